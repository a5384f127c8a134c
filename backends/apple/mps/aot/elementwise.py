# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the operators that compute each element alone."""

from __future__ import annotations

from math import inf, pi, sqrt
from typing import Any

import torch
from torch.fx import Node

from executorch.backends.apple.mps.aot.row import (
    ALL,
    BOOL,
    FLOATS,
    HALVES,
    INTS,
    NUMBERS,
    Lower,
    MpsRow,
    argument,
    is_exact,
    never,
    rank,
    row,
    sizes,
    value_of,
)
from executorch.exir.backend.lowering.op_table import when

# Operator and node.
FUNCTIONS = {
    "exp": "Exp", "exp2": "Exp2", "reciprocal": "Reciprocal", "sqrt": "Sqrt", "log": "Log", "log10": "Log10",
    "log2": "Log2", "erf": "Erf", "rsqrt": "Rsqrt", "sigmoid": "Sigmoid", "sin": "Sin", "cos": "Cos", "tan": "Tan",
    "asin": "Asin", "acos": "Acos", "atan": "Atan", "sinh": "Sinh", "cosh": "Cosh", "tanh": "Tanh", "asinh": "Asinh",
    "acosh": "Acosh", "atanh": "Atanh", "floor": "Floor", "ceil": "Ceil", "round": "Round", "relu": "ReLU",
}  # fmt: skip
OF_NUMBERS = {"neg": "Neg", "abs": "Abs", "sign": "Sign"}
TESTS = {"isnan": "Isnan", "isinf": "Isinf"}
COMPARISONS = {"eq": "Eq", "ne": "Ne", "ge": "Ge", "gt": "Gt", "le": "Le", "lt": "Lt"}
BITWISE = {"and": "And", "or": "Or", "xor": "Xor"}


def common_dtype(call: Node) -> torch.dtype:
    """In which the operands of a call are computed: PyTorch's rule."""
    result = value_of(call).dtype
    if result != torch.bool:
        return result
    found = [each.meta["val"] if isinstance(each, Node) else each for each in call.args]
    return torch.result_type(*found) if len(found) > 1 else found[0].dtype


def unary(kind: str, **more: Any) -> Lower:
    def lower(writer: Any, step: Any) -> None:
        call = step.head
        source = writer.operand(call.args[0], common_dtype(call))
        writer.add(f"MPS{kind}", input1_id=source, output_id=writer.write(call), **more)

    return lower


def binary(kind: str, **more: Any) -> Lower:
    def lower(writer: Any, step: Any) -> None:
        call = step.head
        dtype = common_dtype(call)
        left, right = (writer.operand(each, dtype, rank(call)) for each in call.args[:2])
        result = writer.write(call)
        writer.add(f"MPS{kind}", input1_id=left, input2_id=right, output_id=result, **more)

    return lower


def with_alpha(kind: str) -> Lower:
    def lower(writer: Any, step: Any) -> None:
        binary(kind, alpha=float(argument(step.head, "alpha")))(writer, step)

    return lower


def in_float32(kind: str, **more: Any) -> Lower:
    """The runtime ends the process where it is to compute this on floats of 16 bits."""

    def lower(writer: Any, step: Any) -> None:
        call = step.head
        dtype = common_dtype(call)
        if writer.dtype_inside(dtype) not in HALVES:
            binary(kind, **more)(writer, step)
            return
        left, right = (
            writer.in_float32(writer.operand(each, dtype, rank(call))) for each in call.args
        )
        found = writer.made(kind, left, sizes(call), input1_id=left, input2_id=right, **more)
        narrow = writer.data_type(dtype)
        writer.add("MPSCast", input1_id=found, output_id=writer.write(call), dtype=narrow)

    return lower


def divide(writer: Any, step: Any) -> None:
    mode = argument(step.head, "rounding_mode")
    if mode == "trunc":
        in_float32("Div", rounding_mode=mode)(writer, step)
    else:
        binary("Div", **({} if mode is None else {"rounding_mode": mode}))(writer, step)


def multiply(writer: Any, step: Any) -> None:
    is_bool = value_of(step.head).dtype == torch.bool
    binary("BitwiseAnd" if is_bool else "Mul")(writer, step)


def invert(writer: Any, step: Any) -> None:
    is_bool = value_of(step.head).dtype == torch.bool
    unary("LogicalNot" if is_bool else "BitwiseNot")(writer, step)


def hardtanh(writer: Any, step: Any) -> None:
    low, high = (float(argument(step.head, name)) for name in ("min_val", "max_val"))
    unary("HardTanh", min_value=low, max_value=high)(writer, step)


def leaky_relu(writer: Any, step: Any) -> None:
    unary("LeakyReLU", negative_slope=float(argument(step.head, "negative_slope")))(writer, step)


def gelu(writer: Any, step: Any) -> None:
    """The one by tanh is written as x * sigmoid(x * (a + b * x * x)), which is the same: of the format's node the
    runtime makes x * tanh(x)."""
    call = step.head
    approximate = argument(call, "approximate")
    if approximate == "none":
        unary("GELU", approximate=approximate)(writer, step)
        return
    x = writer.operand(call.args[0], value_of(call).dtype)

    def made(kind: str, left: int, right: int, **more: Any) -> int:
        return writer.made(kind, x, sizes(call), input1_id=left, input2_id=right, **more)

    root = sqrt(8 / pi)
    a, b = (
        writer.operand(each, value_of(call).dtype, rank(call)) for each in (root, 0.044715 * root)
    )
    factor = made("Add", made("Mul", made("Mul", x, x), b), a, alpha=1.0)
    inner = made("Mul", x, factor)
    gate = writer.made("Sigmoid", x, sizes(call), input1_id=inner)
    writer.add("MPSMul", input1_id=x, input2_id=gate, output_id=writer.write(call))


def clamp(writer: Any, step: Any) -> None:
    unary("Clamp")(writer, step)
    low, high = (argument(step.head, name) for name in ("min", "max"))
    writer.limit(-inf if low is None else float(low), inf if high is None else float(high))


def where(writer: Any, step: Any) -> None:
    call = step.head
    condition, *chosen = call.args
    ids = [writer.read(condition), *(writer.operand(each, value_of(call).dtype) for each in chosen)]
    names = ("input1_id", "input2_id", "input3_id")
    writer.add("MPSWhere", **dict(zip(names, ids, strict=True)), output_id=writer.write(call))


def softmax(writer: Any, step: Any) -> None:
    unary("Softmax", dim=argument(step.head, "dim"), half_to_float=False)(writer, step)


def _reads(dtypes: frozenset[torch.dtype]) -> Any:
    names = ", ".join(sorted(str(each).removeprefix("torch.") for each in dtypes))
    return when(
        lambda call: all(value_of(each).dtype in dtypes for each in call.all_input_nodes),
        f"operands of dtype {names} are expected",
    )


FAR_BELOW = "the runtime takes the logarithm of softmax, which is 0 far below the largest"
KEPT_HALF = when(lambda call: not argument(call, "half_to_float"), "half_to_float is not expected")
EXACT_ALPHA = when(
    lambda call: value_of(call).dtype in FLOATS or is_exact(argument(call, "alpha")),
    "alpha must be a number that float32 holds",
)


def elementwise_rows() -> dict[str, MpsRow]:
    rows = {
        f"aten.{name}.default": row(kind, unary(kind), FLOATS) for name, kind in FUNCTIONS.items()
    }
    rows |= {
        f"aten.{name}.default": row(kind, unary(kind), NUMBERS) for name, kind in OF_NUMBERS.items()
    }
    rows |= {
        f"aten.{name}.default": row(kind, unary(kind), BOOL, _reads(FLOATS))
        for name, kind in TESTS.items()
    }
    for form in ("Tensor", "Scalar"):
        rows |= {
            f"aten.{name}.{form}": row(kind, with_alpha(kind), NUMBERS, EXACT_ALPHA)
            for name, kind in (("add", "Add"), ("sub", "Sub"))
        }
        rows |= {
            f"aten.{name}.{form}": row(kind, binary(kind), BOOL)
            for name, kind in COMPARISONS.items()
        }
        rows |= {
            f"aten.bitwise_{name}.{form}": row(
                f"Bitwise{kind}", binary(f"Bitwise{kind}"), INTS | BOOL
            )
            for name, kind in BITWISE.items()
        }
        rows |= {
            f"aten.{name}.{form}": row(f"{kind} Cast", lower(kind), NUMBERS)
            for name, kind, lower in (
                ("fmod", "Fmod", in_float32),
                ("remainder", "Remainder", binary),
            )
        }
        rows[f"aten.mul.{form}"] = row("Mul BitwiseAnd", multiply, ALL)
        rows[f"aten.div.{form}"] = row("Div", binary("Div"), FLOATS)
        rows[f"aten.div.{form}_mode"] = row("Div Cast", divide, FLOATS)
        rows[f"aten.pow.Tensor_{form}"] = row("Pow", binary("Pow"), FLOATS)
    not_bool = _reads(BOOL)
    return rows | {
        "aten.floor_divide.default": row("Div", binary("Div", rounding_mode="floor"), FLOATS),
        "aten.minimum.default": row("Minimum", binary("Minimum"), NUMBERS),
        "aten.logical_not.default": row("LogicalNot", unary("LogicalNot"), BOOL, not_bool),
        "aten.bitwise_not.default": row("BitwiseNot LogicalNot", invert, INTS | BOOL),
        "aten.hardtanh.default": row("HardTanh", hardtanh, FLOATS),
        "aten.leaky_relu.default": row("LeakyReLU", leaky_relu, FLOATS),
        "aten.gelu.default": row("GELU Mul Add Sigmoid", gelu, FLOATS),
        "aten.clamp.default": row("Clamp", clamp, FLOATS),
        "aten.where.self": row("Where", where, ALL),
        "aten._softmax.default": row("Softmax", softmax, FLOATS, KEPT_HALF),
        "aten._log_softmax.default": never(FAR_BELOW),
    }
