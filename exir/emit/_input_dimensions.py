# SPDX-License-Identifier: BSD-3-Clause
"""Which sizes the inputs of a method may have: a row for each dimension that varies (its range, and how it depends on
others), for the runtime to check inputs by. The file's sizes alone are upper bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy
import torch
from torch.export import ExportedProgram
from torch.fx import Node
from torch.utils._sympy.value_ranges import ValueRanges, bound_sympy

from executorch.exir.schema import TensorShapeDynamism
from executorch.exir.sym_util import in_multiples
from executorch.exir.tensor import TensorSpec

# What torch.export gives Dim.AUTO as the least size, which takes 0 and 1 all the same, as its own checks do.
_MINIMUM_OF_ANY_SIZE = 2
_LARGEST_FACTOR = 2**31 - 1


@dataclass
class InputDimension:
    """A row of `input_dimensions`: a size is scale * n + offset, n being that of an earlier row or its own."""

    input: int
    dimension: int
    min: int = 0
    scale: int = 1
    offset: int = 0
    same_n_as: int = -1

    def numbers(self) -> list[int]:
        return [self.input, self.dimension, self.min, self.scale, self.offset, self.same_n_as]


def input_dimensions(program: ExportedProgram, inputs: Sequence[Node]) -> list[int] | None:
    """The rows of a method's user inputs, in their order, number by number; None if none of them varies."""
    rows: list[InputDimension] = []
    row_of_symbol: dict[sympy.Symbol, int] = {}
    for position, node in enumerate(inputs):
        spec, value = node.meta.get("spec"), node.meta.get("val")
        if not isinstance(spec, TensorSpec) or spec.shape_dynamism == TensorShapeDynamism.STATIC:
            continue
        sizes = _sizes(spec, value)
        for dimension, (bound, size) in enumerate(zip(spec.shape, sizes, strict=True)):
            if isinstance(size, int) and size == bound:
                continue
            row = InputDimension(input=position, dimension=dimension)
            if isinstance(size, torch.SymInt):
                # the largest is the tensor's size in the file
                row.min = _least(size, bound, program.range_constraints)
                _relate(row, size, len(rows), row_of_symbol)
            rows.append(row)
    return [number for row in rows for number in row.numbers()] or None


def _sizes(spec: TensorSpec, value: object) -> Sequence[int | torch.SymInt | None]:
    """What the program knows of the sizes; None for each where that is nothing (a spec made by a pass)."""
    known = isinstance(value, torch.Tensor) and len(value.shape) == len(spec.shape)
    sizes = list(value.shape) if known else []
    if any(isinstance(size, torch.SymInt) for size in sizes):
        return sizes
    return [None] * len(spec.shape)


def _least(size: torch.SymInt, bound: int, constraints: dict[sympy.Symbol, ValueRanges]) -> int:
    known = {**size.node.shape_env.var_to_range, **constraints}
    ranges = {symbol: _checked(known[symbol]) for symbol in known if known[symbol].is_int}
    lowest = bound_sympy(*in_multiples(size, ranges)).lower
    stated = constraints.get(size.node.expr)  # of a multiple more than its symbol says
    if stated is not None:
        lowest = max(lowest, _checked(stated).lower)
    return max(0, min(int(lowest), bound)) if lowest.is_number and lowest.is_finite else 0


def output_dimensions(program: ExportedProgram, outputs: Sequence[object]) -> list[int] | None:
    """Rows of three for the dimensions of outputs that vary; None if none does."""
    rows: list[int] = []
    for position, output in enumerate(outputs):
        spec = output.meta.get("spec") if isinstance(output, Node) else None
        if not isinstance(spec, TensorSpec) or spec.shape_dynamism == TensorShapeDynamism.STATIC:
            continue
        sizes = zip(spec.shape, _sizes(spec, output.meta.get("val")), strict=True)
        for dimension, (bound, size) in enumerate(sizes):
            if isinstance(size, torch.SymInt):
                rows += [position, dimension, _least(size, bound, program.range_constraints)]
            elif size != bound:
                rows += [position, dimension, 0]
    return rows or None


def _checked(values: ValueRanges) -> ValueRanges:
    lower = sympy.Integer(0) if values.lower == _MINIMUM_OF_ANY_SIZE else values.lower
    return ValueRanges(lower, values.upper)


def _relate(
    row: InputDimension,
    size: torch.SymInt,
    index: int,
    row_of_symbol: dict[sympy.Symbol, int],
) -> None:
    """size = scale * symbol + offset, where it is; an earlier row with the same symbol has the same number for it."""
    expression, _ = in_multiples(size, size.node.shape_env.var_to_range)
    if len(expression.free_symbols) != 1:
        return
    (symbol,) = expression.free_symbols
    scale = expression.diff(symbol)
    offset = expression.subs(symbol, 0)
    is_linear = sympy.expand(scale * symbol + offset - expression) == 0
    if not (is_linear and all(_fits(number) for number in (scale, offset))) or scale == 0:
        return
    row.scale, row.offset = int(scale), int(offset)
    row.same_n_as = row_of_symbol.setdefault(symbol, index)
    if row.same_n_as == index:
        row.same_n_as = -1


def _fits(number: sympy.Expr) -> bool:
    return bool(number.is_Integer) and abs(int(number)) <= _LARGEST_FACTOR
