# SPDX-License-Identifier: BSD-3-Clause
"""Rows of what computes element by element."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.fx import Node

from executorch.backends.qualcomm.aot.composed import gelu_by_tanh
from executorch.backends.qualcomm.aot.graph import flag, float32, uint32
from executorch.backends.qualcomm.aot.rows import (
    FLOAT_RESULT,
    NO_QUANTIZED,
    NUMBERS,
    OF_FLOATS,
    OF_ONE_MODE,
    Lower,
    alone,
    either,
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
from executorch.exir.backend.lowering.op_table import NO_FACTOR, Condition, Row, is_constant, when
from executorch.exir.backend.lowering.quantized import is_dequantize
from executorch.exir.graph_facts import argument

_FLOAT32 = torch.finfo(torch.float32)
_UNARY = {
    **{name: f"ElementWise{name.title()}" for name in
       ("abs", "asin", "atan", "ceil", "cos", "exp", "floor", "log", "neg", "rsqrt", "sign", "sin", "round")},
    "sqrt": "ElementWiseSquareRoot",
    "relu": "Relu",
    "tanh": "Tanh",
    "hardswish": "HardSwish",
}  # fmt: skip
_OF_INTEGERS = ("abs", "neg")  # too
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


def _of_result(node: Node) -> torch.dtype:
    return node.meta["val"].dtype


def _of_operands(node: Node) -> torch.dtype:
    """Booleans are compared as integers."""
    values = [each.meta["val"] if isinstance(each, Node) else each for each in node.args[:2]]
    found = torch.result_type(*values)
    return torch.int32 if found not in NUMBERS else found


def _of_booleans(node: Node) -> torch.dtype:
    return torch.bool


def _binary(
    kind: str, computed: Callable[[Node], torch.dtype] = _of_result, **parameters: int
) -> Lower:
    """Of tensors or numbers, cast to the dtype that is computed in."""

    def lower(w: GraphWriter, step: ModeStep) -> None:
        x, y = step.head.args[:2]
        beside, dtype = x if isinstance(x, Node) else y, computed(step.head)
        operands = [
            _lined_up(w, each, dtype) if isinstance(each, Node) else w.number(each, beside, dtype)
            for each in (x, y)
        ]
        w.give(kind, *operands, **{name: uint32(value) for name, value in parameters.items()})

    return lower


def _lined_up(w: GraphWriter, operand: Node, dtype: torch.dtype) -> int:
    """With as many dimensions as the result has."""
    value = w.cast(w.take(operand), dtype)
    sizes = list(w.values[value].dims)
    if operand.meta["val"].dim() == 0 or len(sizes) >= w.rank:
        return value
    return w.reshaped(value, [1] * (w.rank - len(sizes)) + sizes)


def _where(w: GraphWriter, step: ModeStep) -> None:
    condition, *values = step.head.args
    dtype = _of_result(step.head)
    given = [_lined_up(w, each, dtype) for each in values]
    w.give("ElementWiseSelect", _lined_up(w, condition, torch.bool), *given)


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


def _gelu(w: GraphWriter, step: ModeStep) -> None:
    """QNN's is the exact form."""
    is_exact = argument(step.head, "approximate") == "none"
    (alone("Gelu") if is_exact else gelu_by_tanh)(w, step)


def _is_nan(w: GraphWriter, step: ModeStep) -> None:
    w.give("IsNan", w.take(step.head.args[0]))


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
    x, slope = step.head.args[0], argument(step.head, "negative_slope")
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


def _gives(*dtypes: torch.dtype) -> Callable[[Node], bool]:
    return lambda node: node.meta["val"].dtype in dtypes


def _is_select_of_one_mode(node: Node) -> bool:
    values = node.args[1:]
    return all(map(is_float, values)) or not any(map(is_dequantize, values))


def _has_static_qparams(node: Node) -> bool:
    return static_qparams(node) is not None


def _has_numbers(node: Node) -> bool:
    names = ("min", "max", "min_val", "max_val")
    return not any(isinstance(argument(node, name), Node) for name in names)


NUMBER_RESULT = when(
    _gives(*NUMBERS), "a result of floats, or of integers of 32 or 64 bits, is expected"
)
BOOLEANS = when(
    lambda node: _gives(torch.bool)(node) and all(map(_gives(torch.bool), node.all_input_nodes)),
    "booleans are expected",
)
COMBINED = NUMBER_RESULT, OF_ONE_MODE
SELECTED = when(_is_select_of_one_mode, "integers beside quantized values")
LIMITS = when(_has_numbers, "limits that are numbers are expected")
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
    **{f"aten.{name}.default": row(alone(kind), NUMBER_RESULT if name in _OF_INTEGERS else FLOAT_RESULT, layouts=either,
                                    annotation=ARITHMETIC)
       for name, kind in _UNARY.items()},
    **{f"aten.{name}.{form}": row(_binary(kind), NO_FACTOR, *COMBINED, layouts=either, annotation=ARITHMETIC)
       for name, kind in _BINARY.items() for form in ("Tensor", "Scalar")},
    **{f"aten.{name}.default": row(_binary(f"ElementWise{name.title()}"), *COMBINED, layouts=either,
                                    annotation=ARITHMETIC)
       for name in ("maximum", "minimum")},
    **{f"aten.{name}.{form}": row(_binary(f"ElementWise{kind}", _of_operands), OF_ONE_MODE, layouts=either,
                                        annotation=ARITHMETIC_OF_FLOATS)
       for name, kind in _COMPARED.items() for form in ("Tensor", "Scalar")},
    **{f"aten.{name}": row(_binary(f"ElementWise{kind.title()}", _of_booleans), condition, layouts=either)
       for kind in ("and", "or", "xor")
       for name, condition in ((f"logical_{kind}.default", NO_QUANTIZED), (f"bitwise_{kind}.Tensor", BOOLEANS))},
    **_aten("logical_not.default", alone("ElementWiseNot", torch.bool), NO_QUANTIZED),
    **_aten("pow.Tensor_Tensor", _binary("ElementWisePower"), *COMBINED, annotation=ARITHMETIC),
    **_aten("pow.Tensor_Scalar", _pow_number, OF_FLOATS, annotation=ARITHMETIC),
    **_aten("floor_divide.default", _binary("ElementWiseBinary", operation=_FLOOR_DIVIDE), FLOAT_RESULT, OF_ONE_MODE,
            preserved=True, annotation=ARITHMETIC),
    **_aten("where.self", _where, SELECTED, annotation=ARITHMETIC_OF_FLOATS),
    **_aten("sigmoid.default", alone("Sigmoid"), FLOAT_RESULT, annotation=FROM_0_TO_1),
    **_aten("gelu.default", _gelu, FLOAT_RESULT, annotation=ARITHMETIC),
    **_aten("hardsigmoid.default", _hard_sigmoid, preserved=True, annotation=FROM_0_TO_1),
    **_aten("elu.default", _elu, ELU, preserved=True, annotation=ARITHMETIC),
    **_aten("prelu.default", _prelu, SLOPES, preserved=True, annotation=ARITHMETIC),
    **_aten("leaky_relu.default", _leaky_relu, preserved=True, annotation=ARITHMETIC),
    **_aten("clamp.default", _clamped("min", "max", None, None), OF_FLOATS, LIMITS, annotation=ARITHMETIC),
    **_aten("hardtanh.default", _clamped("min_val", "max_val", -1.0, 1.0), OF_FLOATS, LIMITS, annotation=ARITHMETIC),
    **_aten("reciprocal.default", _reciprocal, OF_FLOATS),
    **_aten("isnan.default", _is_nan, OF_FLOATS, NO_QUANTIZED),
    **_aten("isinf.default", _is_infinite, OF_FLOATS, NO_QUANTIZED),
    **_aten("_to_copy.default", _cast, NO_QUANTIZED),
    "dim_order_ops._to_dim_order_copy.default": row(_cast, NO_QUANTIZED, layouts=either),
    "quantized_decomposed.quantize_per_tensor.default": row(_quantized, QPARAMS, layouts=either),
    "quantized_decomposed.dequantize_per_tensor.default": row(_dequantized, QPARAMS, layouts=either),
}  # fmt: skip
ROWS["aten.hardswish.default"] = row(
    alone("HardSwish"), layouts=either, preserved=True, annotation=ARITHMETIC
)
ROWS["aten.round.default"] = row(
    alone("ElementWiseRound"), FLOAT_RESULT, NO_DECIMALS, layouts=either, annotation=ARITHMETIC
)
