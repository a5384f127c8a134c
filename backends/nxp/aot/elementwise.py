# SPDX-License-Identifier: BSD-3-Clause
"""Rows of what computes element by element."""

from __future__ import annotations

from math import inf, prod

import torch
from torch.fx import Node

from executorch.backends.nxp.aot.rows import (
    SAME_QPARAMS,
    Lower,
    NeutronRow,
    StepCondition,
    alone,
    either,
    operand_numbers,
    result_is,
    result_numbers,
    row,
    sizes_of,
)
from executorch.backends.nxp.aot.writer import TfliteWriter, is_own_operator, one
from executorch.exir.backend.lowering.annotation import (
    ARITHMETIC,
    FROM_0_TO_1,
    FROM_MINUS_1_TO_1,
    SHARED,
    Annotation,
    Kind,
)
from executorch.exir.backend.lowering.mode_steps import ModeStep, qparams_of
from executorch.exir.backend.lowering.op_table import NO_FACTOR, Condition, Constants, when
from executorch.exir.backend.lowering.quantized import is_dequantize, quantization_of
from executorch.exir.backend.lowering.steps import limits_of
from executorch.exir.graph_facts import argument, op_name

_DEFAULT_SLOPE = 0.01


def _limited(w: TfliteWriter, step: ModeStep) -> None:
    source = w.take(step.head.args[0])
    w.limit(limits_of(step.head), source, w.write(step.result, w.candidate.gives))


def _leaky(w: TfliteWriter, step: ModeStep) -> None:
    slope = argument(step.head, "negative_slope", _DEFAULT_SLOPE)
    w.give("LEAKY_RELU", w.take(step.head.args[0]), options="LeakyReluOptions", alpha=slope)


def _prelu(w: TfliteWriter, step: ModeStep) -> None:
    """One slope for each channel, or one for all."""
    x, slopes = step.head.args[:2]
    axis = w.axis(1) if w.rank > 1 else 0
    data, qparams = w.weight(slopes, [0])
    sizes = [data.numel() if dim == axis else 1 for dim in range(w.rank)]
    w.give("PRELU", w.take(x), w.constant(slopes.name, data.reshape(sizes), qparams))


def _negative(w: TfliteWriter, step: ModeStep) -> None:
    """0 - x, with a 0 that is quantized as x is."""
    x = step.head.args[0]
    qparams = one(qparams_of(w.stored(x)))
    zero = w.constant("zero", torch.tensor(qparams.zero_points, dtype=torch.int8), qparams)
    w.give("SUB", zero, w.take(x), options="SubOptions")


# ---- Conditions ----


def _is_as_large(node: Node) -> bool:
    count = prod(sizes_of(node))
    return any(prod(sizes_of(each)) == count for each in node.all_input_nodes)


def _has_known_limits(node: Node) -> bool:
    limits = limits_of(node)
    return limits is not None and limits != (-inf, inf)


def _has_operator_or_qparams(step: ModeStep, constants: Constants) -> bool:
    is_same = set(operand_numbers(step)) == {result_numbers(step)}
    return is_same or is_own_operator(limits_of(step.head))


def _are_slopes(node: Node, constants: Constants) -> bool:
    slopes = node.args[1]
    if not is_dequantize(slopes) or slopes not in constants:
        return False
    qparams = quantization_of(slopes)
    return qparams.dtype == torch.int8 and qparams.is_static


def cuts_nothing(step: ModeStep, constants: Constants) -> bool:
    """Limits beyond all that the input holds, of a result that is quantized alike."""
    qparams = quantization_of(step.head.args[0])
    least, largest = (
        (bound - qparams.zero_point) * qparams.scale
        for bound in (qparams.quant_min, qparams.quant_max)
    )
    low, high = limits_of(step.head)
    return low <= least and high >= largest and _is_same(step)


def _is_same(step: ModeStep) -> bool:
    return set(operand_numbers(step)) == {result_numbers(step)}


def gives_back(step: ModeStep, constants: Constants) -> bool:
    """x + 0, x - 0, x * 1."""
    x, y = step.head.args[:2]
    name = op_name(step.head).split(".")[1]
    neutral = 1.0 if name == "mul" else 0.0
    others = [each for each in ((y,) if name == "sub" else (x, y)) if each in constants]
    return (
        _is_same_of(step, constants)
        and step.limits is None
        and any(bool((constants[each] == neutral).all()) for each in others)
    )


def _is_same_of(step: ModeStep, constants: Constants) -> bool:
    dynamic = [each for each in step.head.args[:2] if each not in constants]
    found = [quantization_of(each) for each in dynamic]
    return [(each.scale, each.zero_point) for each in found] == [result_numbers(step)] and (
        sizes_of(dynamic[0]) == sizes_of(step.head)
    )


AS_LARGE = when(_is_as_large, "an operand with as many elements as the result is expected")
KNOWN_LIMITS = when(_has_known_limits, "limits that are numbers are expected")
OPERATOR_OR_QPARAMS = StepCondition(
    _has_operator_or_qparams,
    "limits of TFLite's own operators, or a result with the operand's scale and zero point, are expected",
)
SLOPES = Condition(_are_slopes, "slopes that are static, int8 with one scale, are expected")
TWO_TENSORS = when(
    lambda node: all(isinstance(each, Node) for each in node.args[:2]), "two tensors are expected"
)


def _unary(lower: Lower, *conditions: Condition, annotation: Annotation = ARITHMETIC) -> NeutronRow:
    """Quantized for itself: what follows is, too."""
    return row(lower, *conditions, layouts=either, annotation=annotation, tail=None)


def _binary(kind: str) -> NeutronRow:
    lower = alone(kind.upper(), f"{kind.title()}Options")
    return row(
        lower,
        NO_FACTOR,
        TWO_TENSORS,
        AS_LARGE,
        layouts=either,
        annotation=ARITHMETIC,
        is_idle=gives_back,
    )


def _extreme(kind: str) -> NeutronRow:
    lower = alone(kind, "MaximumMinimumOptions")
    return row(lower, TWO_TENSORS, SAME_QPARAMS, AS_LARGE, layouts=either, annotation=SHARED)


# A MAXIMUM or MINIMUM keeps the qparams.
_OF_LIMITS = Annotation(
    Kind.ARITHMETIC, when=lambda node: is_own_operator(limits_of(node)), otherwise=SHARED
)


def _limit(*conditions: Condition) -> NeutronRow:
    return row(
        _limited,
        *conditions,
        layouts=either,
        annotation=_OF_LIMITS,
        tail=None,
        is_idle=cuts_nothing,
    )


ROWS: dict[str, NeutronRow] = {
    **{f"aten.{name}.Tensor": _binary(name) for name in ("add", "sub", "mul")},
    "aten.maximum.default": _extreme("MAXIMUM"),
    "aten.minimum.default": _extreme("MINIMUM"),
    "aten.abs.default": _unary(alone("ABS", "AbsOptions"), annotation=SHARED),
    "aten.exp.default": _unary(alone("EXP", "ExpOptions")),
    "aten.log.default": _unary(alone("LOG")),
    "aten.neg.default": _unary(_negative, annotation=SHARED),
    "aten.sigmoid.default": _unary(
        alone("LOGISTIC"), result_is(1 / 256, -128, "1/256"), annotation=FROM_0_TO_1
    ),
    "aten.tanh.default": _unary(
        alone("TANH"), result_is(1 / 128, 0, "1/128"), annotation=FROM_MINUS_1_TO_1
    ),
    "aten.relu.default": _limit(),
    "aten.hardtanh.default": _limit(KNOWN_LIMITS, OPERATOR_OR_QPARAMS),
    "aten.clamp.default": _limit(KNOWN_LIMITS, OPERATOR_OR_QPARAMS),
    "aten.leaky_relu.default": row(
        _leaky, layouts=either, annotation=ARITHMETIC, tail=None, preserved=True
    ),
    "aten.prelu.default": row(
        _prelu, SLOPES, layouts=either, annotation=ARITHMETIC, tail=None, preserved=True
    ),
}  # fmt: skip
