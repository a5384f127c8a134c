# SPDX-License-Identifier: BSD-3-Clause
"""Rows that compute along axes: sums, means, largest values, pools, softmax, norms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import torch
from torch.fx import Node

from executorch.backends.arm.aot import norms
from executorch.backends.arm.aot.matrix import Window
from executorch.backends.arm.aot.writer import TosaWriter
from executorch.exir.backend.lowering.layout import (
    NHWC,
    PLAIN,
    Candidates,
    LayoutCandidate,
    alike,
    dims_in,
    in_layout,
    plain,
)
from executorch.exir.backend.lowering.mode_steps import ModeStep as Step
from executorch.exir.graph_facts import op_name, static_sizes

LEFT_OUT = (None,) * 6  # arguments behind those that a call has


def dims_of(head: Node, place: int = 1) -> list[int]:
    """The dimensions that a call reduces; all where none is said."""
    rank = head.args[0].meta["val"].dim()
    qparams = head.args[place] if len(head.args) > place else None
    if qparams is None or qparams == []:
        return list(range(rank))
    return [dim % rank for dim in (qparams if isinstance(qparams, list | tuple) else [qparams])]


def keeps_dims(step: Step) -> bool:
    head = step.head
    rank = head.args[0].meta["val"].dim()
    value = head.meta["val"]
    return (value[0] if isinstance(value, tuple | list) else value).dim() == rank


def image_ways(step: Step, operands: Sequence[Node]) -> Candidates:
    """Over an image, channels last; what is left of it without dimensions is plain."""
    rank = step.head.args[0].meta["val"].dim()
    dims = dims_of(step.head)
    if rank < 3 or not operands:
        return plain(step, operands)
    if keeps_dims(step):
        return alike(operands, PLAIN, NHWC)
    if sorted(dims) == list(range(2, rank)):
        return {**plain(step, operands), NHWC: LayoutCandidate((NHWC,) * len(operands), PLAIN)}
    return plain(step, operands)


def _axes(w: TosaWriter, dims: Sequence[int], rank: int) -> list[int]:
    order = dims_in(w.layout, rank)
    return sorted(order.index(dim) for dim in dims)


def _shaped(w: TosaWriter, step: Step, x: int) -> int:
    """Without what was reduced, if it does not stay."""
    value = step.head.meta["val"]
    sizes = [int(size) for size in (value[0] if isinstance(value, tuple | list) else value).shape]
    return w.reshape(x, in_layout(sizes, w.candidate.gives or PLAIN))


def reduction(op: str) -> Callable[[TosaWriter, Step], None]:
    def lower(w: TosaWriter, step: Step) -> None:
        source = step.head.args[0]
        x = w.read(source, w.layout)
        axes = _axes(w, dims_of(step.head), w.rank(x))
        if step.is_quantized and op == "REDUCE_SUM":
            qparams = w.qparams_of(source)
            x = w.reduce(op, w.widened(source, x=x), axes)
            x = w.narrowed(x, qparams.scale)
        elif step.is_quantized:
            x = w.requantized(w.reduce(op, x, axes), w.qparams_of(source))
        else:
            x = w.reduce(op, x, axes)
        w.set_result(_shaped(w, step, x))

    return lower


def mean(w: TosaWriter, step: Step) -> None:
    """The sum, exactly, times 1 / N: quantized it is rounded once."""
    source = step.head.args[0]
    x = w.read(source, w.layout)
    dims = dims_of(step.head)
    count = prod(static_sizes(source)[dim] for dim in dims)
    axes = _axes(w, dims, w.rank(x))
    if step.is_quantized:
        qparams = w.qparams_of(source)
        x = w.narrowed(w.reduce("REDUCE_SUM", w.widened(source, x=x), axes), qparams.scale / count)
    else:
        x = w.with_number("MUL", w.reduce("REDUCE_SUM", x, axes), 1 / count)
    w.set_result(_shaped(w, step, x))


def less_of(head: Node) -> float:
    """By how much less than the number of values a variance divides."""
    if op_name(head) == "aten.var.dim":
        return 1 if len(head.args) < 3 or head.args[2] else 0
    less = head.kwargs.get("correction", 1)
    return 1 if less is None else less


def variance(w: TosaWriter, step: Step) -> None:
    source = step.head.args[0]
    x = w.read(source, w.layout)
    dims, less = dims_of(step.head), less_of(step.head)
    count = prod(static_sizes(source)[dim] for dim in dims)
    axes = _axes(w, dims, w.rank(x))
    if step.is_quantized:
        w.set_result(_shaped(w, step, norms.variance(w, x, axes, source, count, less)))
        return
    average = w.with_number("MUL", w.reduce("REDUCE_SUM", x, axes), 1 / count)
    apart = w.binary("SUB", x, average)
    total = w.reduce("REDUCE_SUM", w.binary("MUL", apart, apart), axes)
    w.set_result(_shaped(w, step, w.with_number("MUL", total, 1 / (count - less))))


def running_sum(w: TosaWriter, step: Step) -> None:
    """By a product with a triangle of ones."""
    source, dim = step.head.args
    x = w.read(source, PLAIN)
    rank, axis = w.rank(x), dim % w.rank(x)
    order = [each for each in range(rank) if each != axis] + [axis]
    x = w.permute(x, order)
    shape, size = w.shape(x), w.shape(x)[-1]
    rows = w.reshape(x, (1, w.num_elements(x) // size, size))
    ones = w.const(torch.ones(1, size, size).triu(), w.dtype(x))
    qparams = w.qparams_of(source) if step.is_quantized else None
    made = w.matmul(rows, ones, 0 if qparams is None else qparams.zero_point)
    if qparams is not None:
        made = w.narrowed(made, qparams.scale)
    w.set_result(w.permute(w.reshape(made, shape), [order.index(each) for each in range(rank)]))


def any_of(w: TosaWriter, step: Step) -> None:
    x = w.read(step.head.args[0], w.layout)
    w.set_result(
        _shaped(w, step, w.reduce("REDUCE_ANY", x, _axes(w, dims_of(step.head), w.rank(x))))
    )


def largest_of(op: str) -> Callable[[TosaWriter, Step], None]:
    """The first result of max.dim and min.dim."""

    def lower(w: TosaWriter, step: Step) -> None:
        x = w.read(step.head.args[0], PLAIN)
        x = w.reduce(op, x, dims_of(step.head))
        w.define(step.result, w.reshape(x, static_sizes(step.result)))

    return lower


def last_ways(step: Step, operands: Sequence[Node]) -> Candidates:
    """Where the largest of channels is sought, with these last."""
    is_last = dims_of(step.head) == [1] and step.head.args[0].meta["val"].dim() > 2
    layouts = (PLAIN, NHWC) if is_last else (PLAIN,)
    return {each: LayoutCandidate((each,) * len(operands), PLAIN) for each in layouts}


def place_of_largest(w: TosaWriter, step: Step) -> None:
    """TOSA counts in INT32, which the cast behind the call asks for; the first of equal values, as PyTorch. Along the
    last dimension, which Ethos-U55 and U65 expect."""
    x = w.read(step.head.args[0], w.layout)
    dims, rank = dims_of(step.head), w.rank(x)
    if len(dims) < rank:
        order = dims_in(w.layout, rank)
        x = w.permute(
            x, [order.index(dim) for dim in range(rank) if dim not in dims] + _axes(w, dims, rank)
        )
    else:
        x = w.reshape(x, (w.num_elements(x),))
    found = w.emit("ARGMAX", [x], w.shape(x)[:-1], "INT32", axis=w.rank(x) - 1)
    w.define(step.result, w.reshape(found, static_sizes(step.result)))


# ---- Pools ----


def _pair(numbers: Any) -> list[int]:
    numbers = [numbers] if isinstance(numbers, int) else list(numbers)
    return numbers if len(numbers) == 2 else numbers * 2


def pool_window(node: Node) -> tuple[list[int], Window]:
    """Kernel and window of a pool of two dimensions; a stride that is left out is the kernel."""
    args = [*node.args[1:], *LEFT_OUT]
    kernel = _pair(args[0])
    stride = _pair(args[1]) if args[1] else kernel
    padding = _pair(args[2] or 0)
    dilation = [1, 1]
    if "max_pool" in op_name(node) and args[3]:
        dilation = _pair(args[3])
    return kernel, Window(stride, padding, dilation)


def _pooled(
    w: TosaWriter, step: Step, op: str, x: int, kernel: list[int], window: Window, **more: Any
) -> int:
    """With as much padding at the end as windows read, and no value that none reads."""
    out = in_layout(shape_of_result(step), NHWC)
    pads = []
    for place in range(2):
        size, want = w.shape(x)[place + 1], out[place + 1]
        read = (want - 1) * window.stride[place] + kernel[place]
        before = window.padding[place]
        after = read - size - before
        if after < 0:
            x = w.slice_axis(x, place + 1, 0, size + after)
        pads += [before, max(0, after)]
    inputs = [x, *more.pop("zeros", ())]
    return w.emit(
        op, inputs, out, w.dtype(x), kernel=kernel, stride=window.stride, pad=pads, **more
    )


def shape_of_result(step: Step) -> list[int]:
    value = step.head.meta["val"]
    return [int(s) for s in (value[0] if isinstance(value, tuple | list) else value).shape]


def max_pool(w: TosaWriter, step: Step) -> None:
    x = w.read(step.head.args[0], NHWC)
    kernel, window = pool_window(step.head)
    if window.dilation != [1, 1]:
        made = _max_pool_by_phases(w, x, kernel, window, in_layout(shape_of_result(step), NHWC))
    else:
        made = _pooled(w, step, "MAX_POOL2D", x, kernel, window)
    if step.is_quantized:
        made = w.requantized(made, w.qparams_of(step.head.args[0]))
    w.set_result(made)


def _max_pool_by_phases(
    w: TosaWriter, x: int, kernel: list[int], window: Window, out: Sequence[int]
) -> int:
    """Every so many rows and columns are an image of their own, of which neighbours are neighbours."""
    gaps, before = window.dilation, window.padding
    ends = [(0, 0)]
    for place in range(2):
        whole = w.shape(x)[place + 1] + 2 * before[place]
        ends.append((before[place], before[place] + -whole % gaps[place]))
    x = w.pad(x, [*ends, (0, 0)], w.least(x))
    batch, height, width, channels = w.shape(x)
    (down, across), images = gaps, batch * gaps[0] * gaps[1]
    x = w.reshape(x, (batch, height // down, down, width // across, across, channels))
    x = w.reshape(
        w.permute(x, [2, 4, 0, 1, 3, 5]), (images, height // down, width // across, channels)
    )
    sizes = [(w.shape(x)[p + 1] - kernel[p]) // window.stride[p] + 1 for p in range(2)]
    x = _within(w, x, [(sizes[p] - 1) * window.stride[p] + kernel[p] for p in range(2)])
    attributes = {"kernel": kernel, "stride": window.stride, "pad": [0] * 4}
    x = w.emit("MAX_POOL2D", [x], (images, *sizes, channels), w.dtype(x), **attributes)
    x = w.permute(w.reshape(x, (down, across, batch, *sizes, channels)), [2, 3, 0, 4, 1, 5])
    x = w.reshape(x, (batch, sizes[0] * down, sizes[1] * across, channels))
    return _within(w, x, out[1:3])


def _within(w: TosaWriter, x: int, sizes: Sequence[int]) -> int:
    """Rows and columns from the first on."""
    for place, size in enumerate(sizes):
        x = w.slice_axis(x, place + 1, 0, size)
    return x


def covers_image(node: Node) -> bool:
    """Whether an average has one window, of all that there is; what it reads beyond does not count."""
    kernel, window = pool_window(node)
    args = [*node.args[1:], *LEFT_OUT]
    sizes, out = static_sizes(node.args[0])[-2:], static_sizes(node)[-2:]
    reads_all = all(tap >= size for tap, size in zip(kernel, sizes, strict=True))
    return out == [1, 1] and reads_all and not any(window.padding) and not args[5]


def avg_pool(w: TosaWriter, step: Step) -> None:
    """Integers are sums that are divided once. In floats, AVG_POOL2D divides by what is no padding: zeros that count
    are there before, and so are all that windows read, where a divisor is said."""
    source = step.head.args[0]
    x = w.read(source, NHWC)
    if covers_image(step.head):
        w.set_result(_uneven_averages(w, step, x, [0, 1, 1]))
        return
    kernel, window = pool_window(step.head)
    args = [*step.head.args[1:], *LEFT_OUT]
    counts, divisor = args[4] is not False, args[5]
    qparams = w.qparams_of(source) if step.is_quantized else None
    zero = 0 if qparams is None else qparams.zero_point
    if qparams is not None:
        divisors = torch.tensor(divisor) if divisor else _counts(w, step, x, kernel, window, counts)
        if _divides_exactly(w, x, divisors):
            w.set_result(_exact_average(w, step, x, kernel, window, divisors))
            return
    if divisor:
        x = _all_read(w, step, x, kernel, window, zero)
    elif counts and any(window.padding):
        x = w.pad(x, [(0, 0), *((each, each) for each in window.padding), (0, 0)], zero)
    if divisor or counts:
        window = Window(window.stride, [0, 0], window.dilation)
    zeros = [w.one(zero, w.dtype(x))] * 2
    made = _pooled(
        w, step, "AVG_POOL2D", x, kernel, window, zeros=zeros, acc_type=_average_type(w, x)
    )
    if qparams is not None:
        made = w.requantized(made, qparams)
    elif divisor and divisor != prod(kernel):
        made = w.with_number("MUL", made, prod(kernel) / divisor)
    w.set_result(made)


def _counts(
    w: TosaWriter, step: Step, x: int, kernel: list[int], window: Window, counts: bool
) -> torch.Tensor:
    """How many elements each window divides by: of the image, and of its padding where that counts."""
    out, found = in_layout(shape_of_result(step), NHWC), []
    for place in range(2):
        padding = window.padding[place]
        edge = padding if counts else 0
        first = torch.arange(out[place + 1]) * window.stride[place] - padding
        last = (first + kernel[place]).clamp(max=w.shape(x)[place + 1] + edge)
        found.append(last - first.clamp(min=-edge))
    return torch.outer(*found).reshape(1, *out[1:3], 1)


def _divides_exactly(w: TosaWriter, x: int, divisors: torch.Tensor) -> bool:
    """By one number; or by several, when averages in units of a part of all of them fit in INT32."""
    several = divisors.unique().tolist()
    return len(several) == 1 or (w.dtype(x) == "INT8" and 255 * math.lcm(*several) < 2**31)


def _average_type(w: TosaWriter, x: int) -> Any:
    return w.accumulator("INT8" if w.dtype(x) == "INT16" else w.dtype(x))[1]


def _all_read(
    w: TosaWriter, step: Step, x: int, kernel: list[int], window: Window, zero: int
) -> int:
    """What windows read, `zero` where there is no image."""
    out = in_layout(shape_of_result(step), NHWC)
    ends = [(0, 0)] * 4
    for place, before in enumerate(window.padding, 1):
        read = (out[place] - 1) * window.stride[place - 1] + kernel[place - 1] - before
        ends[place] = (before, max(0, read - w.shape(x)[place]))
        x = w.slice_axis(x, place, 0, min(read, w.shape(x)[place]))
    return w.pad(x, ends, zero) if any(map(any, ends)) else x


def _exact_average(
    w: TosaWriter, step: Step, x: int, kernel: list[int], window: Window, divisors: torch.Tensor
) -> int:
    """Sums of windows, by a convolution with ones, rounded once; AVG_POOL2D rounds in the operand's scale before.
    Where divisors differ, sums are made as many parts of all of them: of 4, 6 and 9 elements 9, 6 and 4 times 36ths."""
    qparams = w.qparams_of(step.head.args[0])
    x = _all_read(w, step, x, kernel, window, qparams.zero_point)
    out = in_layout(shape_of_result(step), NHWC)
    channels, kind = out[3], w.dtype(x)
    sums, acc_type = w.accumulator(kind)
    inputs = [
        x,
        w.const(torch.ones(*kernel, channels, 1), "INT8"),
        w.const(torch.zeros(channels), sums),
        w.one(qparams.zero_point, kind),
        w.one(0, "INT8"),
    ]
    made = w.emit(
        "DEPTHWISE_CONV2D",
        inputs,
        out,
        sums,
        pad=[0] * 4,
        stride=window.stride,
        dilation=[1, 1],
        local_bound=False,
        acc_type=acc_type,
    )
    parts = math.lcm(*divisors.unique().tolist())
    if (divisors != parts).any():
        made = w.mul32(made, w.const(parts // divisors, "INT32"))
    return w.narrowed(made, qparams.scale / parts)


def adaptive_avg_pool(w: TosaWriter, step: Step) -> None:
    """Windows of one size, where the sizes divide; else one by one."""
    source = step.head.args[0]
    x = w.read(source, NHWC)
    out = in_layout(static_sizes(step.head), NHWC)
    if any(w.shape(x)[place] % out[place] for place in (1, 2)):
        w.set_result(_uneven_averages(w, step, x, out))
        return
    kernel = [w.shape(x)[place] // out[place] for place in (1, 2)]
    qparams = w.qparams_of(source) if step.is_quantized else None
    if qparams is not None and out[1:3] == [1, 1]:
        total = w.reduce("REDUCE_SUM", w.rescale(x, "INT32", [1.0], qparams.zero_point), [1, 2])
        w.set_result(w.narrowed(total, qparams.scale / prod(kernel)))
        return
    if qparams is not None:
        window = Window(kernel, [0, 0], [1, 1])
        w.set_result(_exact_average(w, step, x, kernel, window, torch.tensor(prod(kernel))))
        return
    zeros = [w.one(0, w.dtype(x))] * 2
    attributes = {"kernel": kernel, "stride": kernel, "pad": [0] * 4}
    acc = _average_type(w, x)
    w.set_result(w.emit("AVG_POOL2D", [x, *zeros], out, w.dtype(x), acc_type=acc, **attributes))


def windows(size: int, count: int) -> list[tuple[int, int]]:
    """First and end of each window of an adaptive pool."""
    return [(size * i // count, -(-size * (i + 1) // count)) for i in range(count)]


def _uneven_averages(w: TosaWriter, step: Step, x: int, out: Sequence[int]) -> int:
    rows, columns = (windows(w.shape(x)[place], out[place]) for place in (1, 2))
    if step.is_quantized:
        x = w.widened(step.head.args[0], x=x)
    bands = []
    for top, bottom in rows:
        band = w.reduce("REDUCE_SUM", w.slice_axis(x, 1, top, bottom - top), [1])
        parts = []
        for left, right in columns:
            total = w.reduce("REDUCE_SUM", w.slice_axis(band, 2, left, right - left), [2])
            parts.append(_over(w, step, total, (bottom - top) * (right - left)))
        bands.append(w.concat(parts, 2))
    return w.concat(bands, 1)


def _over(w: TosaWriter, step: Step, total: int, count: int) -> int:
    if step.is_quantized:
        return w.narrowed(total, w.qparams_of(step.head.args[0]).scale / count)
    return w.with_number("MUL", total, 1 / count)


# ---- Softmax and norms, of floats ----


def softmax(w: TosaWriter, step: Step) -> None:
    x, axis = w.read(step.head.args[0], w.layout), w.axis(step.head.args[1])
    shifted = w.binary("SUB", x, w.reduce("REDUCE_MAX", x, [axis]))
    powers = w.unary("EXP", shifted)
    total = w.reduce("REDUCE_SUM", powers, [axis])
    if op_name(step.head) == "aten._log_softmax.default":
        w.set_result(w.binary("SUB", shifted, w.unary("LOG", total)))
    else:
        w.set_result(w.binary("MUL", powers, w.unary("RECIPROCAL", total)))


def layer_norm(w: TosaWriter, step: Step) -> None:
    source, sizes, gamma, beta, eps = step.head.args
    x = w.read(source, PLAIN)
    rank, count = w.rank(x), len(sizes)
    axes = list(range(rank - count, rank))
    made = _normalized(w, x, axes, prod(sizes), eps)
    for op, node in (("MUL", gamma), ("ADD", beta)):
        if node is not None:
            made = w.binary(op, made, w.read(node, PLAIN))
    w.set_result(made)


def rms_norm(w: TosaWriter, step: Step) -> None:
    source, sizes, gamma = (*step.head.args[:3], None)[:3]
    x = w.read(source, PLAIN)
    axes = list(range(w.rank(x) - len(sizes), w.rank(x)))
    squares = w.with_number(
        "MUL", w.reduce("REDUCE_SUM", w.binary("MUL", x, x), axes), 1 / prod(sizes)
    )
    root = w.unary("RSQRT", w.with_number("ADD", squares, norms.rms_eps(step.head)))
    made = w.binary("MUL", x, root)
    w.set_result(made if gamma is None else w.binary("MUL", made, w.read(gamma, PLAIN)))


def group_norm(w: TosaWriter, step: Step) -> None:
    source, gamma, beta, batch, channels, area, groups, eps = step.head.args
    x = w.read(source, PLAIN)
    shape = w.shape(x)
    rows = w.reshape(x, (batch, groups, channels // groups * area))
    made = w.reshape(_normalized(w, rows, [2], channels // groups * area, eps), shape)
    by_channel = (1, channels, *(1,) * (len(shape) - 2))
    for op, node in (("MUL", gamma), ("ADD", beta)):
        if node is not None:
            made = w.binary(op, made, w.reshape(w.read(node, PLAIN), by_channel))
    w.set_result(made)


def _normalized(w: TosaWriter, x: int, axes: Sequence[int], count: int, eps: float) -> int:
    average = w.with_number("MUL", w.reduce("REDUCE_SUM", x, axes), 1 / count)
    apart = w.binary("SUB", x, average)
    spread = w.reduce("REDUCE_SUM", w.binary("MUL", apart, apart), axes)
    spread = w.with_number("MUL", spread, 1 / count)
    return w.binary("MUL", apart, w.unary("RSQRT", w.with_number("ADD", spread, eps)))


# ---- Resizing ----


def resize_numbers(size: int, want: int, aligned: bool) -> tuple[int, int, int, int]:
    """n, d, offset and border of one axis, as TOSA's RESIZE has them."""
    above, below = want, size
    if aligned and size > 1 and want > 1:
        above, below = want - 1, size - 1
    common = math.gcd(above, below)
    n, d = 2 * above // common, 2 * below // common
    offset = 0 if aligned else d // 2 - n // 2
    return n, d, offset, d * (want - 1) - n * (size - 1) + offset


def resize(mode: str) -> Callable[[TosaWriter, Step], None]:
    def lower(w: TosaWriter, step: Step) -> None:
        source = step.head.args[0]
        x = w.read(source, NHWC)
        out = in_layout(static_sizes(step.head), NHWC)
        aligned = mode == "BILINEAR" and bool(step.head.args[2])
        axes = [resize_numbers(w.shape(x)[p], out[p], aligned) for p in (1, 2)]
        if mode == "NEAREST":
            sizes = zip((w.shape(x)[p] for p in (1, 2)), out[1:3], axes, strict=True)
            axes = [_nearest(*each) for each in sizes]
        scale = [number for n, d, _, _ in axes for number in (n, d)]
        shapes = [w.sizes(scale)] + [w.sizes([each[p] for each in axes]) for p in (2, 3)]
        kind = w.dtype(x)
        wide = {"INT8": "INT32", "INT16": "INT48"}.get(kind, kind)
        result = wide if mode == "BILINEAR" else kind
        made = w.emit("RESIZE", [x, *shapes], out, result, mode=w.resize_mode(mode))
        if step.is_quantized and mode == "BILINEAR":
            qparams = w.qparams_of(source)
            factor = axes[0][0] * axes[1][0]
            zero = qparams.zero_point
            if zero:
                shift = w.const(torch.full((1,) * 4, -zero * factor), result)
                made = w.binary("ADD", made, shift)
            made = w.narrowed(made, qparams.scale / factor)
        elif step.is_quantized:
            made = w.requantized(made, w.qparams_of(source))
        w.set_result(made)

    return lower


def _nearest(size: int, want: int, numbers: tuple[int, ...]) -> tuple[int, int, int, int]:
    """floor(place * size / want), as PyTorch has it: RESIZE rounds at halves, so that half a step goes off. Of whole
    ratios the usual offset gives the same."""
    n, d, offset, border = numbers
    if want % size == 0:
        return n, d, offset, border
    return n, d, -(n // 2), border - offset - n // 2
