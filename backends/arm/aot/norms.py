# SPDX-License-Identifier: BSD-3-Clause
"""Softmax, its logarithm and layer norm on quantized values: no range inside is calibrated. Sums are exact; they are
brought to 31 bits by CLZ and a shift, so that one table of 16 bits has their reciprocal, root or logarithm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod

import numpy as np
import torch
from torch.fx import Node

from executorch.backends.arm.aot import wide_norms
from executorch.backends.arm.aot.matrix import norm_numbers
from executorch.backends.arm.aot.writer import TosaWriter
from executorch.exir.backend.lowering.layout import PLAIN
from executorch.exir.backend.lowering.mode_steps import ModeStep as Step
from executorch.exir.backend.lowering.quantized import Quantization

_POINTS = np.linspace(-(2**15), 2**15, 513)  # of a table of 16 bits
_ONE = 15  # powers: 1 is 2^15
_BELOW_ONE = 16  # bits of a divisor that is zero
_FINER = 64  # differences from a mean are in this part of a quantum
_NORMAL = 2**7 * math.sqrt(2**13)  # 1 of a normalized value


# ---- Softmax ----


def softmax(w: TosaWriter, step: Step) -> None:
    """exp of the distance to the largest value by a table that is exact at each of the 256 distances; the sum's
    reciprocal is looked up, and the product shifted back: errors are below half a quantum."""
    _, powers, total = _exponentials(w, step)
    w.set_result(_divided(w, powers, total))


def log_softmax(w: TosaWriter, step: Step) -> None:
    """The distance less the logarithm of the sum, in 1/256 of a quantum of the result."""
    apart, _, total = _exponentials(w, step)
    unit = w.qparams.scale / 2**8
    qparams = w.qparams_of(step.head.args[0])
    distance = w.rescale(apart, "INT32", [qparams.scale / unit])
    logarithm = w.rescale(_log2(w, total), "INT32", [math.log(2) / 2**15 / unit])
    w.set_result(w.narrowed(w.binary("SUB", distance, logarithm), unit))


def _exponentials(w: TosaWriter, step: Step) -> tuple[int, int, int]:
    """Distances to the largest value, their powers, and the sum of those."""
    source = step.head.args[0]
    qparams = w.qparams_of(source)
    x, axis = w.read(source, w.layout), w.axis(step.head.args[1])
    largest = w.reduce("REDUCE_MAX", x, [axis])  # of INT8: Ethos-U55 has none of INT32
    wide, most = (w.rescale(each, "INT32", [1.0], qparams.zero_point) for each in (x, largest))
    apart = w.binary("SUB", wide, most)
    powers = _powers(w, apart, qparams)
    return apart, powers, w.reduce("REDUCE_SUM", powers, [axis])


def _powers(w: TosaWriter, apart: int, qparams: Quantization) -> int:
    """exp, 1 as 2^15, exactly at each distance, INT32: of 16 bits the product of those of its two halves."""
    far = w.negate(apart)
    if qparams.dtype == torch.int8:
        return _at_places(w, far, qparams.scale)
    high = w.shifted_right(far, w.full(8, "INT32", w.rank(far)), False)
    low = w.binary("SUB", far, w.mul32(high, w.full(2**8, "INT32", w.rank(far))))
    return w.mul32(
        _at_places(w, high, qparams.scale * 2**8), _at_places(w, low, qparams.scale), _ONE
    )


def _at_places(w: TosaWriter, far: int, unit: float) -> int:
    """exp(-far * unit) of whole numbers up to 255, at which a table of 16 bits has points."""
    places = np.maximum(_POINTS, 0) / 128
    return w.looked_up(w.rescale(far, "INT16", [128.0]), np.exp(-places * unit) * (2**_ONE - 1))


def _normal(w: TosaWriter, total: int) -> tuple[int, int]:
    """total * 2^up, at least 2^30 and below 2^31, and up."""
    up = w.with_number("SUB", w.unary("CLZ", total), 1)
    return w.binary("LOGICAL_LEFT_SHIFT", total, up), up


def _fraction(w: TosaWriter, normal: int) -> int:
    """normal / 2^30 - 1, 1 as 2^15."""
    return w.rescale(w.with_number("SUB", normal, 2**30), "INT16", [2.0**-15])


def _divided(w: TosaWriter, powers: int, total: int) -> int:
    """powers / total as the step gives it."""
    normal, up = _normal(w, total)
    inverse = w.looked_up(_fraction(w, normal), 2**15 / (1 + np.maximum(_POINTS, 0) / 2**15))
    ratio = w.mul32(powers, inverse)  # powers / total, times 2^(45 - up)
    down = w.number_with("SUB", 16, up)  # a total of one power alone has 15 bits
    return w.narrowed(w.shifted_right(ratio, down), 2.0**-29)


def divided(w: TosaWriter, x: int, y: int, exponent: int) -> int:
    """x / y * 2^exponent of 9 bits each, to 15 bits, as INT32; what does not fit there is larger than any result, by
    zero, too, which counts as 2^-16."""
    below = w.with_number("MAXIMUM", w.with_number("MINIMUM", y, 0), -1)  # -1 or 0
    sign = w.with_number("ADD", w.binary("ADD", below, below), 1)
    size = w.mul32(w.mul32(y, sign), w.full(2**_BELOW_ONE, "INT32", w.rank(y)))
    normal, up = _normal(w, w.with_number("MAXIMUM", size, 1))
    inverse = w.looked_up(_fraction(w, normal), 2**15 / (1 + np.maximum(_POINTS, 0) / 2**15))
    ratio = w.mul32(w.mul32(x, sign), inverse)
    down = w.number_with("SUB", 45 - _BELOW_ONE - exponent, up)
    down = w.with_number("MINIMUM", w.with_number("MAXIMUM", down, 0), 31)
    return w.shifted_right(ratio, down)


def _log2(w: TosaWriter, total: int) -> int:
    """Of a sum of powers, 1 as 2^15."""
    normal, up = _normal(w, total)
    part = np.log2(1 + np.maximum(_POINTS, 0) / 2**15) * 2**15
    whole = w.number_with("SUB", 30 - _ONE, up)
    return w.binary("ADD", w.mul32(whole, w.full(2**15, "INT32", w.rank(whole))),
                    w.looked_up(_fraction(w, normal), part))  # fmt: skip


# ---- Layer norm ----


def layer_norm(w: TosaWriter, step: Step) -> None:
    """Over the last axes, as rows."""
    source, sizes, gamma, beta, eps = step.head.args
    count = prod(sizes)
    x = w.read(source, PLAIN)
    shape = w.shape(x)
    rows = w.reshape(x, (prod(shape) // count, count))
    made, one = _normalized(w, rows, count, w.qparams_of(source), eps)
    made = _scaled_and_moved(w, made, _flat(w, gamma), _flat(w, beta), one)
    w.define(step.result, w.reshape(made, shape))


def group_norm(w: TosaWriter, step: Step) -> None:
    """Groups as rows; then by channel, which is the last axis for that."""
    source, gamma, beta, batch, channels, area, groups, eps = step.head.args
    x = w.read(source, PLAIN)
    shape = w.shape(x)
    count = channels // groups * area
    rows = w.reshape(x, (batch * groups, count))
    made, one = _normalized(w, rows, count, w.qparams_of(source), eps)
    made = w.permute(w.reshape(made, (batch, channels, area)), [0, 2, 1])
    made = _scaled_and_moved(w, made, _flat(w, gamma), _flat(w, beta), one)
    w.define(step.result, w.reshape(w.permute(made, [0, 2, 1]), shape))


def batch_norm(w: TosaWriter, step: Step) -> None:
    """By channel, which is the last axis."""
    source = step.head.args[0]
    factors, moved = norm_numbers(w, step.head)
    x = w.widened(source)
    unit = w.qparams_of(source).scale
    w.define(step.result, _scaled_and_moved(w, x, factors * unit, moved, 1.0), w.layout)


def _flat(w: TosaWriter, node: Node | None) -> torch.Tensor | None:
    return None if node is None else w.constants[node].detach().double().flatten()


def stored_eps(eps: float, scale: float) -> float:
    """In the unit of variances, which take 2^30 beside it."""
    return eps * _variance_unit(scale)


def _normalized(
    w: TosaWriter, rows: int, count: int, qparams: Quantization, eps: float
) -> tuple[int, float]:
    """The distance to the mean over the root of the variance, and what 1 is."""
    if qparams.dtype == torch.int16:
        return _wide(w, rows, count, qparams, eps), wide_norms.NORMAL
    apart, variance = _spread(w, rows, [1], count, qparams)
    return _over_root(w, apart, variance, stored_eps(eps, qparams.scale)), _NORMAL


def _wide(
    w: TosaWriter, rows: int, count: int, qparams: Quantization, eps: float, *more: bool
) -> int:
    floor = wide_norms.root_of_eps(eps, qparams.scale)
    return wide_norms.over_root(w, wide_norms.spread(w, rows, [1], count, floor, *more), floor)


def _over_root(w: TosaWriter, apart: int, variance: int, eps: float) -> int:
    """apart / root(variance + eps), of which the variance is in units of apart^2 / 4; 1 as _NORMAL."""
    variance = w.with_number("ADD", variance, max(round(eps), 1))
    half = w.emit(
        "ARITHMETIC_RIGHT_SHIFT",
        w.same_rank(w.with_number("SUB", w.unary("CLZ", variance), 1), w.full(1, "INT32", 2)),
        w.shape(variance),
        "INT32",
        round=False,
    )
    up = w.binary("ADD", half, half)
    normal = w.binary("LOGICAL_LEFT_SHIFT", variance, up)  # 2^29 to 2^31
    short = w.rescale(normal, "INT16", [2.0**-16])
    root = 2**15 * np.sqrt(2**13 / np.maximum(_POINTS, 2**13))
    product = w.mul32(apart, w.looked_up(short, root))
    return w.shifted_right(product, w.number_with("SUB", 15, half))


def rms_norm(w: TosaWriter, step: Step) -> None:
    """Over the last axes, as rows, around zero."""
    source, sizes, gamma = (*step.head.args[:3], None)[:3]
    count = prod(sizes)
    x = w.read(source, PLAIN)
    qparams, shape = w.qparams_of(source), w.shape(x)
    rows = w.reshape(x, (prod(shape) // count, count))
    eps = rms_eps(step.head)
    if qparams.dtype == torch.int16:
        made, one = _wide(w, rows, count, qparams, eps, True), wide_norms.NORMAL
    else:
        made, one = _over_root_of_squares(w, rows, count, qparams, eps), _NORMAL
    w.set_result(w.reshape(_scaled_and_moved(w, made, _flat(w, gamma), None, one), shape))


def _over_root_of_squares(
    w: TosaWriter, rows: int, count: int, qparams: Quantization, eps: float
) -> int:
    """Of 14 bits: twice as far from 0 as from a mean."""
    fine = w.rescale(rows, "INT32", [_FINER / 2], qparams.zero_point)
    squares = _four_times(w, wide_norms.mean_of(w, w.mul32(fine, fine), [1], count))
    return _over_root(w, fine, squares, eps * _variance_unit(qparams.scale * 2))


def rms_eps(head: Node) -> float:
    eps = head.args[3] if len(head.args) > 3 else None
    return torch.finfo(torch.float32).eps if eps is None else eps


def _spread(
    w: TosaWriter, x: int, axes: Sequence[int], count: int, qparams: Quantization
) -> tuple[int, int]:
    """Distances to the mean, of 14 bits, and the mean of their squares, which is `_variance_unit` times as large."""
    fine = w.rescale(x, "INT32", [float(_FINER)], qparams.zero_point)
    total = w.reduce("REDUCE_SUM", w.rescale(x, "INT32", [1.0], qparams.zero_point), axes)
    apart = w.binary("SUB", fine, w.rescale(total, "INT32", [_FINER / count]))
    return apart, _four_times(w, wide_norms.mean_of(w, w.mul32(apart, apart), axes, count))


def _four_times(w: TosaWriter, x: int) -> int:
    return w.mul32(x, w.full(4, "INT32", w.rank(x)))


def _variance_unit(scale: float) -> float:
    return 4 * (_FINER / scale) ** 2


def variance(
    w: TosaWriter, x: int, axes: Sequence[int], source: Node, count: int, less: float
) -> int:
    """Of stored values, as the step gives it."""
    qparams = w.qparams_of(source)
    if qparams.dtype == torch.int16:
        found, unit = wide_norms.variance(w, x, axes, count)
        unit *= qparams.scale**2
    else:
        _, found = _spread(w, x, axes, count, qparams)
        unit = 1 / _variance_unit(qparams.scale)
    return w.narrowed(found, count / (count - less) * unit)


def _scaled_and_moved(
    w: TosaWriter,
    x: int,
    factors: torch.Tensor | None,
    moved: torch.Tensor | None,
    one: float,
) -> int:
    """As the result is stored; `factors` and `moved` by the last axis, `one`: what 1 is in x."""
    unit = w.qparams.scale / 2**8
    count = w.shape(x)[-1]
    shape = (1,) * (w.rank(x) - 1) + (count,)
    factors = torch.ones(count) if factors is None else factors
    if bool((factors < 0).any()):
        signs = torch.where(factors < 0, -1, 1).to(torch.int32)
        x = w.mul32(x, w.const(signs.reshape(shape), "INT32"))
    scales = (factors.double().abs() / (one * unit)).clamp(min=2.0**-30)
    x = w.rescale(x, "INT32", scales.tolist())
    if moved is not None:
        rounded = torch.round(moved.double() / unit).clamp(-(2**30), 2**30).to(torch.int32)
        x = w.binary("ADD", x, w.const(rounded.reshape(shape), "INT32"))
    return w.narrowed(x, unit)
