# SPDX-License-Identifier: BSD-3-Clause
"""Rows of what QNN has no operator for, as formulas of those that it has. They are computed in floats, also between
quantized values: values on the way have ranges that nobody calibrated."""

from __future__ import annotations

from collections.abc import Callable
from math import log, pi, prod, sqrt

import torch
from torch.fx import Node

from executorch.backends.qualcomm.aot.graph import flag, uints
from executorch.backends.qualcomm.aot.rows import FLOAT_RESULT, OF_FLOATS, Lower, either, row
from executorch.backends.qualcomm.aot.writer import GraphWriter
from executorch.exir.backend.lowering.layout import plain
from executorch.exir.backend.lowering.mode_steps import ModeStep
from executorch.exir.backend.lowering.op_table import Condition, Row, when
from executorch.exir.graph_facts import argument, op_name, static_sizes

Operand = int | float  # a value of the graph, or a number, which is a float
Last = tuple[str | Operand, ...]  # the operator that gives the result, and what it reads


class Terms:
    """Values on the way, of the sizes of what is broadcast."""

    def __init__(self, w: GraphWriter, step: ModeStep) -> None:
        self._w, self._x = w, step.head.args[0]

    def value(self, operand: Operand) -> int:
        is_number = isinstance(operand, float)
        return self._w.number(operand, self._x) if is_number else operand

    def __call__(self, kind: str, *operands: Operand) -> int:
        values = [self.value(each) for each in operands]
        dims = [self._w.values[each].dims for each in values]
        made = self._w.like(values[0], torch.broadcast_shapes(*dims))
        return self._w.emit(f"ElementWise{kind}", values, made)


def _formula(last: Callable[..., Last]) -> Lower:
    """`last`: of terms and the tensors that the call reads."""

    def lower(w: GraphWriter, step: ModeStep) -> None:
        t = Terms(w, step)
        rank = w.rank
        given = [
            _lined_up(w, each, rank) if isinstance(each, Node) else float(each)
            for each in step.head.args[:2]
            if isinstance(each, Node | int | float)
        ]
        kind, *operands = last(t, *given)
        w.give(f"ElementWise{kind}", *map(t.value, operands))

    return lower


def _lined_up(w: GraphWriter, operand: Node, rank: int) -> int:
    value = w.take(operand)
    dims = w.values[value].dims
    is_number = operand.meta["val"].dim() == 0
    return value if is_number else w.reshaped(value, [1] * (rank - len(dims)) + list(dims))


def _asinh(t: Terms, x: int) -> Last:
    """Odd, so that nothing cancels below 0."""
    size = t("Abs", x)
    root = t("SquareRoot", t("Add", t("Multiply", x, x), 1.0))
    return "Multiply", t("Sign", x), t("Log", t("Add", size, root))


def _acosh(t: Terms, x: int) -> Last:
    root = t("SquareRoot", t("Subtract", t("Multiply", x, x), 1.0))
    return "Log", t("Add", x, root)


def _atanh(t: Terms, x: int) -> Last:
    ratio = t("Divide", t("Add", x, 1.0), t("Add", t("Neg", x), 1.0))
    return "Multiply", t("Log", ratio), 0.5


def _exponentials(kind: str) -> Callable[..., Last]:
    return lambda t, x: ("Multiply", t(kind, t("Exp", x), t("Exp", t("Neg", x))), 0.5)


def _remainder(t: Terms, x: int, y: Operand) -> Last:
    return "Subtract", x, t("Multiply", t("Floor", t("Divide", x, y)), y)


def _trunc(t: Terms, x: int) -> Last:
    return "Multiply", t("Sign", x), t("Floor", t("Abs", x))


def _divided(w: GraphWriter, step: ModeStep) -> None:
    last = {
        "floor": lambda t, x, y: ("Floor", t("Divide", x, y)),
        "trunc": lambda t, x, y: _trunc(t, t("Divide", x, y)),
    }
    _formula(last[argument(step.head, "rounding_mode")])(w, step)


def gelu_by_tanh(w: GraphWriter, step: ModeStep) -> None:
    """x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))"""

    def last(t: Terms, x: int) -> Last:
        cube = t("Multiply", t("Multiply", t("Multiply", x, x), x), 0.044715)
        inner = t("Multiply", t("Add", x, cube), sqrt(2 / pi))
        tanh = w.emit("Tanh", [inner], w.like(inner, w.values[inner].dims))
        return "Multiply", t("Add", tanh, 1.0), t("Multiply", x, 0.5)

    _formula(last)(w, step)


def _variance(w: GraphWriter, step: ModeStep) -> None:
    """mean((x - mean)^2) * N / (N - correction)"""
    x, t = step.head.args[0], Terms(w, step)
    sizes = static_sizes(x)
    dims = sorted(dim % len(sizes) for dim in argument(step.head, "dim") or range(len(sizes)))
    kept = [1 if dim in dims else size for dim, size in enumerate(sizes)]
    parameters = {"axes": uints(dims), "keep_dims": flag(True)}

    def mean(value: int) -> int:
        return w.emit("ReduceMean", [value], w.like(value, kept), **parameters)

    source = w.take(x)
    off = t("Subtract", source, mean(source))
    result = w.write(step.result)
    squares = w.reshaped(mean(t("Multiply", off, off)), w.values[result].dims)
    count = prod(sizes[dim] for dim in dims)
    factor = count / (count - argument(step.head, "correction", 1))
    w.emit("ElementWiseMultiply", [squares, t.value(float(factor))], result)


def _is_divided(node: Node) -> bool:
    sizes = static_sizes(node.args[0])
    dims = argument(node, "dim") or range(len(sizes))
    return bool(sizes) and prod(sizes[dim] for dim in dims) > argument(node, "correction", 1)


def in_floats(node: Node) -> bool:
    """Whether a call is computed by a formula."""
    is_tanh = op_name(node) == "aten.gelu.default" and argument(node, "approximate") == "tanh"
    return is_tanh or op_name(node) in ROWS


def _row(lower: Lower, *conditions: Condition) -> Row:
    return row(lower, OF_FLOATS, FLOAT_RESULT, *conditions, layouts=either)


MODE = when(
    lambda node: argument(node, "rounding_mode") in ("floor", "trunc"),
    "a rounding mode of floor or trunc is expected",
)
DIVIDED = when(_is_divided, "more elements than the correction are expected")
_OF_ONE: dict[str, Callable[..., Last]] = {
    "log1p": lambda t, x: ("Log", t("Add", x, 1.0)),
    "expm1": lambda t, x: ("Subtract", t("Exp", x), 1.0),
    "exp2": lambda t, x: ("Exp", t("Multiply", x, log(2))),
    "log2": lambda t, x: ("Multiply", t("Log", x), 1 / log(2)),
    "log10": lambda t, x: ("Multiply", t("Log", x), 1 / log(10)),
    "tan": lambda t, x: ("Divide", t("Sin", x), t("Cos", x)),
    "acos": lambda t, x: ("Subtract", pi / 2, t("Asin", x)),
    "sinh": _exponentials("Subtract"),
    "cosh": _exponentials("Add"),
    "asinh": _asinh,
    "acosh": _acosh,
    "atanh": _atanh,
    "trunc": _trunc,
}
ROWS: dict[str, Row] = {
    **{f"aten.{name}.default": _row(_formula(last)) for name, last in _OF_ONE.items()},
    **{f"aten.remainder.{form}": _row(_formula(_remainder)) for form in ("Tensor", "Scalar")},
    "aten.div.Tensor_mode": _row(_divided, MODE),
    "aten.var.correction": row(_variance, OF_FLOATS, DIVIDED, layouts=plain),
}
