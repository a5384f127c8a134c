# SPDX-License-Identifier: BSD-3-Clause
"""Rows that compute element by element."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from torch.fx import Node

from executorch.backends.arm.aot.emitter import FLOATS, TYPES
from executorch.backends.arm.aot.writer import TosaWriter
from executorch.exir.backend.lowering.layout import (
    NHWC,
    PLAIN,
    Candidates,
    alike,
    plain,
)
from executorch.exir.backend.lowering.mode_steps import ModeStep as Step
from executorch.exir.backend.lowering.mode_steps import static_qparams
from executorch.exir.backend.lowering.steps import limits_of
from executorch.exir.graph_facts import arguments_by_name

Unary = Callable[[TosaWriter, int], int]


def either(step: Step, operands: Sequence[Node]) -> Candidates:
    """In both layouts, where all operands have as many dimensions as the result."""
    value = step.head.meta["val"]
    rank = (value[0] if isinstance(value, tuple | list) else value).dim()
    has_channels = rank > 2 and all(each.meta["val"].dim() == rank for each in operands)
    return alike(operands, PLAIN, NHWC) if has_channels else plain(step, operands)


# ---- One operand ----


def unary(formula: Unary) -> Callable[[TosaWriter, Step], None]:
    def lower(w: TosaWriter, step: Step) -> None:
        w.set_result(formula(w, w.take(step.head.args[0])))

    return lower


def direct(op: str) -> Unary:
    return lambda w, x: w.unary(op, x)


def limits(w: TosaWriter, step: Step) -> None:
    low, high = limits_of(step.head)
    w.set_result(w.clamp(w.take(step.head.args[0]), low, high))


def sqrt(w: TosaWriter, x: int) -> int:
    return w.with_number("POW", x, 0.5)


def silu(w: TosaWriter, x: int) -> int:
    return w.binary("MUL", x, w.unary("SIGMOID", x))


def hardsigmoid(w: TosaWriter, x: int) -> int:
    shifted = w.clamp(w.with_number("ADD", x, 3.0), 0.0, 6.0)
    return w.with_number("MUL", shifted, 1 / 6)


def hardswish(w: TosaWriter, x: int) -> int:
    return w.binary("MUL", x, hardsigmoid(w, x))


def log_to(base: float) -> Unary:
    return lambda w, x: w.with_number("MUL", w.unary("LOG", x), 1 / math.log(base))


def log1p(w: TosaWriter, x: int) -> int:
    """x * log(u) / (u - 1) for u = 1 + x; x where u is 1: no digits are lost (Goldberg)."""
    u = w.with_number("ADD", x, 1.0)
    is_one = w.binary("EQUAL", u, w.full(1.0, w.dtype(x), w.rank(x)), "BOOL")
    gap = w.with_number("SUB", u, 1.0)
    safe = w.select(is_one, w.full(1.0, w.dtype(x), w.rank(x)), gap)
    ratio = w.binary("MUL", w.unary("LOG", u), w.unary("RECIPROCAL", safe))
    return w.select(is_one, x, w.binary("MUL", x, ratio))


def expm1(w: TosaWriter, x: int) -> int:
    """tanh(x / 2) * (exp(x) + 1): exact around 0; exp(x) - 1 where tanh says nothing more."""
    e = w.unary("EXP", x)
    half = w.unary("TANH", w.with_number("MUL", x, 0.5))
    near = w.binary("MUL", half, w.with_number("ADD", e, 1.0))
    is_near = w.number_with_compare("GREATER", 1.0, w.unary("ABS", x))
    return w.select(is_near, near, w.with_number("SUB", e, 1.0))


def sinh(w: TosaWriter, x: int) -> int:
    return w.with_number(
        "MUL", w.binary("SUB", w.unary("EXP", x), w.unary("EXP", w.negate(x))), 0.5
    )


def cosh(w: TosaWriter, x: int) -> int:
    return w.with_number(
        "MUL", w.binary("ADD", w.unary("EXP", x), w.unary("EXP", w.negate(x))), 0.5
    )


def tan(w: TosaWriter, x: int) -> int:
    return w.binary("MUL", w.unary("SIN", x), w.unary("RECIPROCAL", w.unary("COS", x)))


def sign(w: TosaWriter, x: int) -> int:
    zero = w.full(0, w.dtype(x), w.rank(x))
    one, minus = (w.full(each, w.dtype(x), w.rank(x)) for each in (1, -1))
    below = w.select(w.binary("GREATER", zero, x, "BOOL"), minus, zero)
    return w.select(w.binary("GREATER", x, zero, "BOOL"), one, below)


def round_half_to_even(w: TosaWriter, x: int) -> int:
    """floor(x + 0.5), one less where x + 0.5 is odd and has no fraction."""
    raised = w.with_number("ADD", x, 0.5)
    r = w.unary("FLOOR", raised)
    half = w.with_number("MUL", r, 0.5)
    is_even = w.binary("EQUAL", w.unary("FLOOR", half), half, "BOOL")
    is_tie = w.binary("EQUAL", raised, r, "BOOL")
    down = w.binary("LOGICAL_AND", is_tie, w.unary("LOGICAL_NOT", is_even))
    return w.select(down, w.with_number("SUB", r, 1.0), r)


def leaky_relu(w: TosaWriter, step: Step) -> None:
    x = w.take(step.head.args[0])
    slope = step.head.args[1] if len(step.head.args) > 1 else 0.01
    w.set_result(_two_slopes(w, x, float(slope)))


def prelu(w: TosaWriter, step: Step) -> None:
    """Of one slope."""
    source, slope = step.head.args
    w.set_result(_two_slopes(w, w.take(source), float(w.constants[slope].detach())))


def _two_slopes(w: TosaWriter, x: int, slope: float) -> int:
    below = w.with_number("MUL", w.clamp(x, -math.inf, 0.0), slope)
    return w.binary("ADD", w.clamp(x, 0.0, math.inf), below)


def elu(w: TosaWriter, step: Step) -> None:
    alpha, scale, input_scale = (*step.head.args[1:], *(1, 1, 1)[len(step.head.args) - 1 :])
    x = w.take(step.head.args[0])
    below = w.clamp(x, -math.inf, 0.0)
    inner = expm1(w, w.with_number("MUL", below, float(input_scale)))
    low = w.with_number("MUL", inner, float(alpha) * float(scale))
    high = w.with_number("MUL", w.clamp(x, 0.0, math.inf), float(scale))
    w.set_result(w.binary("ADD", high, low))


def gelu(w: TosaWriter, step: Step) -> None:
    x = w.take(step.head.args[0])
    if step.head.kwargs.get("approximate", "none") == "tanh":
        cube = w.binary("MUL", w.binary("MUL", x, x), x)
        inner = w.binary("ADD", x, w.with_number("MUL", cube, 0.044715))
        bent = w.unary("TANH", w.with_number("MUL", inner, math.sqrt(2 / math.pi)))
    else:
        bent = w.unary("ERF", w.with_number("MUL", x, math.sqrt(0.5)))
    half = w.with_number("MUL", x, 0.5)
    w.set_result(w.binary("MUL", half, w.with_number("ADD", bent, 1.0)))


# ---- Two operands ----


def operands(w: TosaWriter, step: Step) -> list[int]:
    """Both, a number as a constant like the other."""
    head = step.head
    found = [w.take(each) if isinstance(each, Node) else None for each in head.args[:2]]
    like = next(each for each in found if each is not None)
    rank = w.rank(like)
    return [
        w.full(head.args[place], w.dtype(like), rank) if each is None else each
        for place, each in enumerate(found)
    ]


def binary(op: str, dtype: str = "", swap: bool = False) -> Callable[[TosaWriter, Step], None]:
    def lower(w: TosaWriter, step: Step) -> None:
        x, y = operands(w, step)
        alpha = arguments_by_name(step.head).get("alpha", 1)
        if alpha != 1:
            y = w.mul32(y, w.full(alpha, w.dtype(y), w.rank(y)))
        w.set_result(w.binary(op, *((y, x) if swap else (x, y)), dtype))

    return lower


def product(w: TosaWriter, step: Step) -> None:
    w.set_result(w.mul32(*operands(w, step)))


def not_equal(w: TosaWriter, step: Step) -> None:
    w.set_result(w.unary("LOGICAL_NOT", w.binary("EQUAL", *operands(w, step), "BOOL")))


def quotient(w: TosaWriter, step: Step) -> None:
    """By a number: times its reciprocal."""
    head = step.head
    if isinstance(head.args[1], Node):
        x, y = operands(w, step)
        y = w.unary("RECIPROCAL", y)
    else:
        x = w.take(head.args[0])
        y = w.full(1 / head.args[1], w.dtype(x), w.rank(x))
    w.set_result(w.binary("MUL", x, y))


def power(w: TosaWriter, step: Step) -> None:
    """Of small whole exponents by products: POW has no negative bases."""
    exponent = step.head.args[1]
    if isinstance(exponent, Node):
        w.set_result(w.binary("POW", *operands(w, step)))
        return
    x = w.take(step.head.args[0])
    times = int(abs(exponent))
    if times != abs(exponent) or not 0 < times <= 8:
        w.set_result(w.with_number("POW", x, float(exponent)))
        return
    made = x
    for _ in range(times - 1):
        made = w.binary("MUL", made, x)
    w.set_result(w.unary("RECIPROCAL", made) if exponent < 0 else made)


def where(w: TosaWriter, step: Step) -> None:
    condition, x, y = map(w.take, step.head.args)
    w.set_result(w.select(condition, x, y))


def convert(w: TosaWriter, step: Step) -> None:
    """Towards zero, as PyTorch does; CAST rounds floats to the nearest."""
    x = w.take(step.head.args[0])
    target = TYPES[step.head.meta["val"].dtype]
    if w.dtype(x) in FLOATS and target not in (*FLOATS, "BOOL"):
        zero = w.full(0, w.dtype(x), w.rank(x))
        is_below = w.binary("GREATER", zero, x, "BOOL")
        x = w.select(is_below, w.unary("CEIL", x), w.unary("FLOOR", x))
    if w.dtype(x) in FLOATS and target == "BOOL":
        zero = w.full(0, w.dtype(x), w.rank(x))
        w.set_result(w.unary("LOGICAL_NOT", w.binary("EQUAL", x, zero, "BOOL")))
    elif w.dtype(x) == "BOOL" and target in FLOATS:
        w.set_result(w.cast(w.cast(x, "INT8"), target))
    else:
        w.set_result(w.cast(x, target))


# ---- Quantized values among floats ----


def quantize(w: TosaWriter, step: Step) -> None:
    qparams = static_qparams(step.head)
    x = w.take(step.head.args[0])
    scaled = round_half_to_even(w, w.with_number("MUL", x, 1 / qparams.scale))
    moved = w.with_number("ADD", scaled, float(qparams.zero_point))
    w.set_result(w.cast(w.clamp(moved, qparams.quant_min, qparams.quant_max), TYPES[qparams.dtype]))


def dequantize(w: TosaWriter, step: Step) -> None:
    qparams = static_qparams(step.head)
    x = w.cast(w.take(step.head.args[0]), "FP32")
    x = w.with_number("SUB", x, float(qparams.zero_point)) if qparams.zero_point else x
    w.set_result(w.with_number("MUL", x, qparams.scale))
