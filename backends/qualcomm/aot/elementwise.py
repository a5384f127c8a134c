# SPDX-License-Identifier: BSD-3-Clause
"""Rows of what computes element by element."""

from __future__ import annotations

import torch
from torch.fx import Node

from executorch.backends.qualcomm.aot.graph import flag, float32, uint32
from executorch.backends.qualcomm.aot.rows import (
    Lower,
    alone,
    argument,
    either,
    is_constant,
    row,
)
from executorch.backends.qualcomm.aot.writer import GraphWriter
from executorch.exir.backend.lowering.annotation import (
    ARITHMETIC,
    ARITHMETIC_OF_FLOATS,
    FROM_0_TO_1,
    NOT_QUANTIZED,
    Annotation,
)
from executorch.exir.backend.lowering.mode_steps import ModeStep, is_float, static_qparams
from executorch.exir.backend.lowering.op_table import Condition, Row, when

_FLOAT32 = torch.finfo(torch.float32)
_UNARY = {
    **{name: f"ElementWise{name.title()}" for name in
       ("abs", "asin", "atan", "ceil", "cos", "exp", "floor", "log", "neg", "rsqrt", "sign", "sin", "round")},
    "sqrt": "ElementWiseSquareRoot",
    "relu": "Relu",
    "tanh": "Tanh",
    "hardswish": "HardSwish",
}  # fmt: skip
_BINARY = {
    "add": "ElementWiseAdd",
    "sub": "ElementWiseSubtract",
    "mul": "ElementWiseMultiply",
    "div": "ElementWiseDivide",
}
_COMPARED = {
    "eq": "Equal",
    "ne": "NotEqual",
    "gt": "Greater",
    "ge": "GreaterEqual",
    "lt": "Less",
    "le": "LessEqual",
}
_FLOOR_DIVIDE, _HARD_SIGMOID, _RECIPROCAL = 4, 2, 10  # operation of the three general operators


def _binary(kind: str, **parameters: int) -> Lower:
    def lower(w: GraphWriter, step: ModeStep) -> None:
        x, y = step.head.args[:2]
        operands = [_lined_up(w, each, x if isinstance(x, Node) else y) for each in (x, y)]
        w.give(kind, *operands, **{name: uint32(value) for name, value in parameters.items()})

    return lower


def _lined_up(w: GraphWriter, operand: Node | float, beside: Node) -> int:
    """With as many dimensions as the result has."""
    if not isinstance(operand, Node):
        return w.number(operand, beside)
    value = w.take(operand)
    sizes = list(w.values[value].dims)
    if operand.meta["val"].dim() == 0 or len(sizes) >= w.rank:
        return value
    return w.reshaped(value, [1] * (w.rank - len(sizes)) + sizes)


def _where(w: GraphWriter, step: ModeStep) -> None:
    w.give("ElementWiseSelect", *(_lined_up(w, each, each) for each in step.head.args))


def _clamped(low: str, high: str, least: float | None, most: float | None) -> Lower:
    """`low`, `high`: names of the limits; `least`, `most`: the operator's own."""

    def lower(w: GraphWriter, step: ModeStep) -> None:
        limits = argument(step.head, low, least), argument(step.head, high, most)
        least_value = _FLOAT32.min if limits[0] is None else limits[0]
        most_value = _FLOAT32.max if limits[1] is None else limits[1]
        w.give(
            "ReluMinMax",
            w.take(step.head.args[0]),
            max_value=float32(most_value),
            min_value=float32(least_value),
        )

    return lower


def _elu(w: GraphWriter, step: ModeStep) -> None:
    alpha = argument(step.head, "alpha")
    w.give("Elu", w.take(step.head.args[0]), **({} if alpha is None else {"alpha": float32(alpha)}))


def _hard_sigmoid(w: GraphWriter, step: ModeStep) -> None:
    w.give(
        "ElementWiseNeuron",
        w.take(step.head.args[0]),
        operation=uint32(_HARD_SIGMOID),
        alpha=float32(1 / 6),
        beta=float32(1 / 2),
    )


def _reciprocal(w: GraphWriter, step: ModeStep) -> None:
    """By division, which the NPU has."""
    x = step.head.args[0]
    w.give("ElementWiseDivide", w.number(1.0, x), w.take(x))


def _pow_number(w: GraphWriter, step: ModeStep) -> None:
    x, exponent = step.head.args[:2]
    w.give("ElementWisePower", w.take(x), w.number(exponent, x))


def _is_infinite(w: GraphWriter, step: ModeStep) -> None:
    both = {"detect_negative": flag(True), "detect_positive": flag(True)}
    w.give("IsInf", w.take(step.head.args[0]), **both)


def _prelu(w: GraphWriter, step: ModeStep) -> None:
    """One slope for each channel, or one; in the layout of what they are multiplied with."""
    x, slopes = step.head.args[:2]
    rank = w.rank
    axis = w.axis(1) if rank > 1 else 0
    w.give("Prelu", w.take(x), w.along(slopes, axis, rank))


def _leaky_relu(w: GraphWriter, step: ModeStep) -> None:
    x, slope = step.head.args[0], argument(step.head, "negative_slope", 0.01)
    w.give("Prelu", w.take(x), w.number(slope, x))


def _quantized(w: GraphWriter, step: ModeStep) -> None:
    """Of a quantized value another one: what is dequantized and quantized otherwise."""
    source = step.head.args[0]
    kind = "Convert" if w.stored(source) is not source else "Quantize"
    w.give(kind, w.take(source))


def _dequantized(w: GraphWriter, step: ModeStep) -> None:
    w.give("Dequantize", w.take(step.head.args[0]))


def _cast(w: GraphWriter, step: ModeStep) -> None:
    w.give("Cast", w.take(step.head.args[0]))


def _is_float_call(node: Node) -> bool:
    return is_float(node.args[0])


def _has_no_factor(node: Node) -> bool:
    return argument(node, "alpha", 1) == 1


def _has_static_qparams(node: Node) -> bool:
    return static_qparams(node) is not None


def _has_numbers(node: Node) -> bool:
    names = ("min", "max", "min_val", "max_val")
    return not any(isinstance(argument(node, name), Node) for name in names)


NO_FACTOR = when(_has_no_factor, "alpha must be 1")
FLOATS = when(_is_float_call, "floats are expected")
NUMBERS = when(_has_numbers, "limits that are numbers are expected")
QPARAMS = when(_has_static_qparams, "one scale and zero point that are known are expected")
NO_DECIMALS = when(lambda node: argument(node, "decimals", 0) == 0, "round of decimals")
ELU = Condition(
    lambda node, constants: all(number == 1 for number in node.args[2:4]),
    "scale and input_scale of 1 are expected: QNN's Elu has alpha alone",
)
SLOPES = Condition(is_constant("weight"), "slopes that are static are expected")


def _aten(name: str, lower: Lower, *conditions: Condition, annotation: Annotation = NOT_QUANTIZED,
          preserved: bool = False) -> dict[str, Row]:  # fmt: skip
    made = row(lower, *conditions, layouts=either, preserved=preserved, annotation=annotation)
    return {f"aten.{name}": made}


ROWS: dict[str, Row] = {
    **{f"aten.{name}.default": row(alone(kind), layouts=either, annotation=ARITHMETIC)
       for name, kind in _UNARY.items()},
    **{f"aten.{name}.Tensor": row(_binary(kind), NO_FACTOR, layouts=either, annotation=ARITHMETIC)
       for name, kind in _BINARY.items()},
    **{f"aten.{name}.default": row(_binary(f"ElementWise{name.title()}"), layouts=either, annotation=ARITHMETIC)
       for name in ("maximum", "minimum")},
    **{f"aten.{name}.{form}": row(_binary(f"ElementWise{kind}"), layouts=either, annotation=ARITHMETIC_OF_FLOATS)
       for name, kind in _COMPARED.items() for form in ("Tensor", "Scalar")},
    **{f"aten.{name}": row(_binary(f"ElementWise{kind}"), layouts=either) for name, kind in {
        "logical_and.default": "And", "bitwise_and.Tensor": "And", "logical_or.default": "Or",
        "bitwise_or.Tensor": "Or", "bitwise_xor.Tensor": "Xor", "logical_xor.default": "Xor"}.items()},
    **_aten("logical_not.default", alone("ElementWiseNot")),
    **_aten("pow.Tensor_Tensor", _binary("ElementWisePower"), annotation=ARITHMETIC),
    **_aten("pow.Tensor_Scalar", _pow_number, FLOATS, annotation=ARITHMETIC),
    **_aten("floor_divide.default", _binary("ElementWiseBinary", operation=_FLOOR_DIVIDE), FLOATS, preserved=True,
            annotation=ARITHMETIC),
    **_aten("where.self", _where, annotation=ARITHMETIC_OF_FLOATS),
    **_aten("sigmoid.default", alone("Sigmoid"), annotation=FROM_0_TO_1),
    **_aten("gelu.default", alone("Gelu"), annotation=ARITHMETIC),
    **_aten("hardsigmoid.default", _hard_sigmoid, preserved=True, annotation=FROM_0_TO_1),
    **_aten("elu.default", _elu, ELU, preserved=True, annotation=ARITHMETIC),
    **_aten("prelu.default", _prelu, SLOPES, preserved=True, annotation=ARITHMETIC),
    **_aten("leaky_relu.default", _leaky_relu, preserved=True, annotation=ARITHMETIC),
    **_aten("clamp.default", _clamped("min", "max", None, None), NUMBERS, annotation=ARITHMETIC),
    **_aten("hardtanh.default", _clamped("min_val", "max_val", -1.0, 1.0), NUMBERS, annotation=ARITHMETIC),
    **_aten("reciprocal.default", _reciprocal, FLOATS),
    **_aten("isnan.default", alone("IsNan"), FLOATS),
    **_aten("isinf.default", _is_infinite, FLOATS),
    **_aten("_to_copy.default", _cast),
    "dim_order_ops._to_dim_order_copy.default": row(_cast, layouts=either),
    "quantized_decomposed.quantize_per_tensor.default": row(_quantized, QPARAMS, layouts=either),
    "quantized_decomposed.dequantize_per_tensor.default": row(_dequantized, QPARAMS, layouts=either),
}  # fmt: skip
ROWS["aten.hardswish.default"] = row(
    alone("HardSwish"), layouts=either, preserved=True, annotation=ARITHMETIC
)
ROWS["aten.round.default"] = row(
    alone("ElementWiseRound"), NO_DECIMALS, layouts=either, annotation=ARITHMETIC
)
