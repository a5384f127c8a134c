# SPDX-License-Identifier: BSD-3-Clause
"""Rows on quantized values, where more than rescaling a result is to be done: work is done on INT32 in one unit for all
operands, and rounded once at the end."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping

import numpy as np
import torch
from torch.fx import Node
from torch.fx.node import map_arg

from executorch.backends.arm.aot.emitter import TYPES
from executorch.backends.arm.aot.norms import divided
from executorch.backends.arm.aot.writer import TosaWriter, stored
from executorch.exir.backend.lowering.mode_steps import ModeStep as Step
from executorch.exir.backend.lowering.quantized import Quantization, is_dequantize
from executorch.exir.graph_facts import without_dialect

Function = Callable[[torch.Tensor], torch.Tensor]
_FINER_QUOTIENT = 4  # bits below a quantum
_HEADROOM = {torch.int8: 20, torch.int16: 12}  # bits below the unit of a sum


def _operand(w: TosaWriter, step: Step, place: int, scale: float | None) -> int:
    """INT32 in units of `scale`; a number, or a float constant, is rounded to them."""
    arg = step.head.args[place]
    if isinstance(arg, Node) and is_dequantize(arg):
        return w.widened(arg, scale)
    values = (
        w.constants[arg].detach().double() if isinstance(arg, Node) else torch.tensor(float(arg))
    )
    rounded = torch.round(values / scale).clamp(-(2**31), 2**31 - 1).to(torch.int32)
    rank = w.rank_of_result()
    rounded = rounded.reshape((1,) * (rank - rounded.dim()) + tuple(rounded.shape))
    return w.const(rounded, "INT32")


def _qparams_by_place(w: TosaWriter, step: Step) -> dict[int, Quantization]:
    """Of the operands that are quantized."""
    return {
        place: w.qparams_of(each)
        for place, each in enumerate(step.head.args)
        if isinstance(each, Node) and is_dequantize(each)
    }


def _qparams(w: TosaWriter, step: Step) -> list[Quantization]:
    return list(_qparams_by_place(w, step).values())


def total(is_difference: bool = False) -> Callable[[TosaWriter, Step], None]:
    """x + alpha y and x - alpha y: the amount of alpha is a part of y's scale, its sign chooses the operator."""

    def lower(w: TosaWriter, step: Step) -> None:
        qparams, alpha = _qparams_by_place(w, step), float(step.head.kwargs.get("alpha", 1))
        times = 1.0, abs(alpha)
        largest = max(each.scale * times[place] for place, each in qparams.items())
        bits = min(_HEADROOM[each.dtype] for each in qparams.values())
        unit = 2 * largest / 2**bits
        x, y = (_operand(w, step, place, unit / times[place]) for place in (0, 1))
        op = "SUB" if is_difference != (alpha < 0) else "ADD"
        w.set_result(w.narrowed(w.binary(op, x, y), unit))

    return lower


def product(w: TosaWriter, step: Step) -> None:
    """Without zero points, so that nothing is rounded before the end."""
    qparams = _qparams(w, step)
    if len(qparams) == 1:  # by a number: its sign aside it is a scale
        number = next(each for each in step.head.args if not isinstance(each, Node))
        (source,) = (each for each in step.head.args if isinstance(each, Node))
        x = w.widened(source)
        w.set_result(w.narrowed(w.negate(x) if number < 0 else x, qparams[0].scale * abs(number)))
        return
    x, y = (_operand(w, step, place, None) for place in (0, 1))
    w.set_result(w.narrowed(w.mul32(x, y), qparams[0].scale * qparams[1].scale))


def quotient(w: TosaWriter, step: Step) -> None:
    """By a number, or of one, a table. Else by the reciprocal of what CLZ brings to 31 bits, as softmax divides."""
    if is_of_one_value(step.head, w.constants):
        table(w, step)
        return
    above, below = _qparams(w, step)
    x, y = (_operand(w, step, place, None) for place in (0, 1))
    unit = w.qparams.scale / 2**_FINER_QUOTIENT
    factor, exponent = math.frexp(above.scale / (below.scale * unit))
    w.set_result(w.narrowed(divided(w, x, y, exponent), unit * factor))


def extreme(op: str) -> Callable[[TosaWriter, Step], None]:
    def lower(w: TosaWriter, step: Step) -> None:
        qparams = _qparams(w, step)
        unit = min(each.scale for each in qparams) / 2**8
        x, y = (_operand(w, step, place, unit) for place in (0, 1))
        w.set_result(w.narrowed(w.binary(op, x, y), unit))

    return lower


def comparison(op: str, swap: bool = False, negated: bool = False) -> Callable[..., None]:
    def lower(w: TosaWriter, step: Step) -> None:
        qparams = _qparams(w, step)
        unit = min(each.scale for each in qparams) / 2**8
        x, y = (_operand(w, step, place, unit) for place in (0, 1))
        made = w.binary(op, *((y, x) if swap else (x, y)), "BOOL")
        w.set_result(w.unary("LOGICAL_NOT", made) if negated else made)

    return lower


def absolute(w: TosaWriter, step: Step) -> None:
    source = step.head.args[0]
    w.set_result(w.narrowed(w.unary("ABS", w.widened(source)), w.qparams_of(source).scale))


def negative(w: TosaWriter, step: Step) -> None:
    source = step.head.args[0]
    w.set_result(w.narrowed(w.negate(w.widened(source)), w.qparams_of(source).scale))


def limits(w: TosaWriter, step: Step) -> None:
    """relu, hardtanh, clamp: rescaled, and cut where the limits are as they are stored."""
    source = step.head.args[0]
    before, after = w.qparams_of(source), w.qparams
    x = w.take(source)
    if (before.scale, before.zero_point, before.dtype) != (
        after.scale,
        after.zero_point,
        after.dtype,
    ):
        x = w.rescale(
            x, TYPES[after.dtype], [before.scale / after.scale], before.zero_point, after.zero_point
        )
    w.set_result(w.limited(x))


def requantize(w: TosaWriter, step: Step) -> None:
    source = step.head.args[0]
    w.set_result(w.requantized(w.take(source), w.qparams_of(source)))


def where(w: TosaWriter, step: Step) -> None:
    condition, *both = step.head.args
    w.set_result(w.select(w.take(condition), *map(w.as_result, both)))


def constant(w: TosaWriter, step: Step) -> None:
    """What is computed of nothing."""
    head = step.head
    values = without_dialect(head.target)(*head.args, **head.kwargs)
    w.set_result(w.const(stored(values, w.qparams), TYPES[w.qparams.dtype], head.name))


# ---- Tables ----


def is_of_one_value(node: Node, constants: Collection[Node]) -> bool:
    """Whether a table has all results: one operand varies, others are numbers."""
    known = [each for each in node.all_input_nodes if each in constants]
    is_one = len(node.all_input_nodes) == len(known) + 1
    return is_one and all(each.meta["val"].numel() == 1 for each in known)


def table(w: TosaWriter, step: Step) -> None:
    """Any function of one value: the call itself, of all values that are stored."""
    source = varying_of(step.head, w.constants)
    x = w.take(source)
    w.set_result(table_of(w, x, w.qparams_of(source), w.qparams, function_of(step, w.constants)))


def varying_of(head: Node, constants: Collection[Node]) -> Node:
    """The one operand of a call that no constant is."""
    (found,) = (each for each in head.all_input_nodes if each not in constants)
    return found


def function_of(step: Step, constants: Mapping[Node, torch.Tensor]) -> Function:
    """What a call of one value computes, with the limits behind it."""
    head, limits = step.head, step.limits
    op, source = without_dialect(head.target), varying_of(head, constants)

    def function(values: torch.Tensor) -> torch.Tensor:
        def value(node: Node) -> torch.Tensor:
            return values if node is source else constants[node].detach()

        args, kwargs = map_arg((head.args, head.kwargs), value)
        made = op(*args, **kwargs)
        return made if limits is None else made.clamp(*limits)

    return function


def table_of(
    w: TosaWriter,
    x: int,
    before: Quantization,
    after: Quantization,
    function: Function,
) -> int:
    if before.dtype == torch.int8:
        codes = torch.arange(-128, 128).clamp(before.quant_min, before.quant_max)
        values = (codes - before.zero_point).float() * np.float32(before.scale)
        return w.lookup(x, stored(function(values), after).numpy())
    codes = torch.linspace(-(2**15), 2**15, 513).clamp(before.quant_min, before.quant_max)
    values = (codes.double() - before.zero_point) * before.scale
    exact = function(values.float()).double() / after.scale
    exact = exact.nan_to_num(0.0).clamp(after.quant_min, after.quant_max)
    return w.rescale(w.lookup(x, exact.round().numpy()), "INT16", [2.0**-7], 0, after.zero_point)


def interpolation_error(before: Quantization, after: Quantization, function: Function) -> float:
    """Of a table of 16 bits, in quanta of the result, wherever neither point of an interval is cut or no number."""
    codes = torch.arange(-(2**15), 2**15 + 1).double()
    clamped = codes.clamp(before.quant_min, before.quant_max)
    exact = function(((clamped - before.zero_point) * before.scale).float()).double() / after.scale
    points = exact[::128]
    known = points.isfinite() & (points >= after.quant_min) & (points <= after.quant_max)
    known = known[:-1] & known[1:]
    rise = (points[1:] - points[:-1])[:, None] * (torch.arange(128) / 128)
    apart = (points[:-1, None] + rise - exact[:-1].reshape(512, 128)).abs()[known]
    return float(apart.nan_to_num(math.inf).max()) if apart.numel() else 0.0
