# SPDX-License-Identifier: BSD-3-Clause
"""TOSA's convolutions, pooling, MATMUL and RESIZE. Layouts: NHWC, NDHWC; filters OHWI, ODHWI, HWCM (depthwise)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from executorch.backends.arm.test.tosa.arithmetic import (
    Array,
    apply_scale_32,
    integer_range,
    reciprocal_scale,
    require,
)


def _zero_point(values: Array, point: Array, kind: str) -> Array:
    """Values less their zero point: of 8 bits, else it is 0."""
    require(kind in ("INT8",) or np.all(point == 0), "only 8 bits have a zero point")
    return values - point


def _places(kernel: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return itertools.product(*map(range, kernel))


def _out_size(size: int, before: int, after: int, span: int, stride: int) -> int:
    free = size - 1 + before + after - (span - 1)
    require(free % stride == 0, "a window and its stride do not end at the padding")
    return free // stride + 1


def _window(padded: Array, at: tuple[int, ...], out: tuple[int, ...], stride: list[int]) -> Array:
    spans = (slice(a, a + (n - 1) * s + 1, s) for a, n, s in zip(at, out, stride, strict=True))
    return padded[(slice(None), *spans)]


def _convolution(call: Any) -> Array:
    """CONV2D and CONV3D: padding counts as 0 after the zero point is taken away."""
    at = call.attribute
    values = _zero_point(call[0], call[3].reshape(()), call.types[0])
    filters = _zero_point(call[1], _by_output(call[4], call[1].ndim), call.types[1])
    kernel = filters.shape[1:-1]
    padded, out = _laid_out(values, kernel, at)
    total = 0
    for place in _places(kernel):
        found = _window(
            padded, tuple(p * d for p, d in zip(place, at.dilation, strict=True)), out, at.stride
        )
        total = total + found @ filters[(slice(None), *place)].T
    return _with_bias(total, call)


def _depthwise(call: Any) -> Array:
    at = call.attribute
    values = _zero_point(call[0], call[3].reshape(()), call.types[0])
    filters = _zero_point(
        call[1], call[4].reshape(()) if call[4].size == 1 else _by_channel(call), call.types[1]
    )
    padded, out = _laid_out(values, filters.shape[:2], at)
    total = 0
    for place in _places(filters.shape[:2]):
        found = _window(
            padded, tuple(p * d for p, d in zip(place, at.dilation, strict=True)), out, at.stride
        )
        total = total + found[..., None] * filters[place]
    return _with_bias(total.reshape(*total.shape[:-2], -1), call)


def _transposed(call: Any) -> Array:
    """TRANSPOSE_CONV2D: each input adds its filter to the output, from out_pad on; the rest is dropped."""
    at = call.attribute
    values = _zero_point(call[0], call[3].reshape(()), call.types[0])
    filters = _zero_point(call[1], _by_output(call[4], 4), call.types[1])
    (_, high, wide, _), (outputs, kh, kw, _) = values.shape, filters.shape
    sy, sx = at.stride
    grid = np.zeros(
        (len(values), (high - 1) * sy + kh, (wide - 1) * sx + kw, outputs), values.dtype
    )
    for y, x in _places((kh, kw)):
        grid[:, y : y + high * sy : sy, x : x + wide * sx : sx][:, :high, :wide] += (
            values @ filters[:, y, x].T
        )
    pairs = np.array(at.out_pad).reshape(2, 2)
    grown = np.pad(grid, [(0, 0), *map(tuple, np.maximum(pairs, 0).tolist()), (0, 0)])
    (top, bottom), (left, right) = np.maximum(-pairs, 0).tolist()
    return _with_bias(grown[:, top : grown.shape[1] - bottom, left : grown.shape[2] - right], call)


def _by_output(points: Array, rank: int) -> Array:
    return points.reshape((-1,) + (1,) * (rank - 1))


def _by_channel(call: Any) -> Array:
    return call[4].reshape(call[1].shape[2:])


def _laid_out(values: Array, kernel: tuple[int, ...], at: Any) -> tuple[Array, tuple[int, ...]]:
    pairs = np.array(at.pad).reshape(-1, 2).tolist()
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, at.dilation, strict=True)]
    sizes = zip(values.shape[1:-1], pairs, spans, at.stride, strict=True)
    out = tuple(_out_size(n, *pair, span, stride) for n, pair, span, stride in sizes)
    return np.pad(values, [(0, 0), *map(tuple, pairs), (0, 0)]), out


def _with_bias(total: Array, call: Any) -> Array:
    result = total + call[2]
    if not call.is_float:
        low, high = integer_range(call.attribute.acc_type.name)
        require((total >= low) & (total <= high), "the sum of a convolution leaves its type")
    return result


def _average(call: Any) -> Array:
    """Of the elements that are no padding; integers by a multiplier that is nearly 1 over their number."""
    at, values = call.attribute, call[0] - call[1].reshape(())
    ones = np.ones_like(values)
    sums, counts = _pooled(values, at, np.add, 0), _pooled(ones, at, np.add, 0)
    require(counts > 0, "a window has padding alone")
    if call.is_float:
        return sums / counts
    scales = {int(n): reciprocal_scale(int(n)) for n in np.unique(counts)}
    multiplier, shift = (
        np.vectorize(lambda n, i=i: scales[int(n)][i], otypes=[np.int64])(counts) for i in (0, 1)
    )
    result = apply_scale_32(sums, multiplier, shift) + call[2].reshape(())
    return np.clip(result, *integer_range(call.out_type))


def _largest(call: Any) -> Array:
    least = -np.inf if call.is_float else integer_range(call.types[0])[0]
    return _pooled(call[0], call.attribute, np.maximum, least)


def _pooled(values: Array, at: Any, fold: Callable[[Array, Array], Array], empty: float) -> Array:
    pairs = np.array(at.pad).reshape(-1, 2).tolist()
    sizes = zip(values.shape[1:-1], pairs, at.kernel, at.stride, strict=True)
    out = tuple(_out_size(n, *pair, k, stride) for n, pair, k, stride in sizes)
    padded = np.pad(values, [(0, 0), *map(tuple, pairs), (0, 0)], constant_values=empty)
    found = [_window(padded, place, out, at.stride) for place in _places(tuple(at.kernel))]
    result = found[0]
    for each in found[1:]:
        result = fold(result, each)
    return result


def _matmul(call: Any) -> Array:
    left = _zero_point(call[0], call[2].reshape(()), call.types[0])
    return left @ _zero_point(call[1], call[3].reshape(()), call.types[1])


def _resize(call: Any) -> Array:
    """Exact fractions of n: bilinear is the sum with weights of n parts, which a RESCALE divides by n * n later."""
    values, scale, offset = call[0], call[1].tolist(), call[2].tolist()
    low, high, part, unit = zip(
        *(
            _neighbours(
                values.shape[1 + i], call.out_shape[1 + i], *scale[2 * i : 2 * i + 2], offset[i]
            )
            for i in (0, 1)
        ),
        strict=True,
    )
    if call.attribute.mode.name == "NEAREST":
        picked = [
            np.where(p * 2 >= n, b, a) for a, b, p, n in zip(low, high, part, unit, strict=True)
        ]
        return values[:, picked[0]][:, :, picked[1]]
    weights = [(n - p, p) for p, n in zip(part, unit, strict=True)]
    if call.is_float:
        weights = [(a / n, b / n) for (a, b), n in zip(weights, unit, strict=True)]
    total = 0
    for y, x in _places((2, 2)):
        rows, columns = (low, high)[y][0], (low, high)[x][1]
        total = (
            total
            + values[:, rows][:, :, columns] * weights[0][y][:, None, None] * weights[1][x][:, None]
        )
    return total


def _neighbours(
    size: int, out: int, n: int, d: int, offset: int
) -> tuple[Array, Array, Array, int]:
    position = np.arange(out) * d + offset
    index = position // n
    low, high = np.clip(index, 0, size - 1), np.clip(index + 1, 0, size - 1)
    return low, high, position - index * n, n


OPERATORS: dict[str, Callable[[Any], Array]] = {
    "CONV2D": _convolution,
    "CONV3D": _convolution,
    "DEPTHWISE_CONV2D": _depthwise,
    "TRANSPOSE_CONV2D": _transposed,
    "AVG_POOL2D": _average,
    "MAX_POOL2D": _largest,
    "MATMUL": _matmul,
    "RESIZE": _resize,
}
