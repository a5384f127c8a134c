# SPDX-License-Identifier: BSD-3-Clause
"""Upper bounds for the sizes of inputs that were exported without one (`Dim(name)`, Dim.AUTO, Dim.DYNAMIC): memory is
planned by them, and the runtime refuses larger inputs."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Literal

import sympy
import torch
from torch.export import ExportedProgram
from torch.fx import Node
from torch.utils._sympy.value_ranges import ValueRanges, bound_sympy

from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.graph_facts import input_specs
from executorch.exir.sym_util import LARGEST_SIZE

# A size for all, or those of the example inputs.
SizeBound = int | Literal["example"]


def with_bounded_inputs(program: ExportedProgram, bound: SizeBound | None) -> ExportedProgram:
    """`program` with ranges that end: a dimension that has no upper bound of its own gets `bound`."""
    if bound is None:
        return program
    if not (bound == "example" or (type(bound) is int and 0 < bound <= LARGEST_SIZE)):
        raise ExportError(
            ExportErrorType.INVALID_INPUT_TYPE,
            f"max_dynamic_size is {bound!r}, expected a size from 1 to {LARGEST_SIZE}, or 'example' for the sizes of "
            "the example inputs",
        )
    bounds: dict[sympy.Symbol, int] = {}
    environment = None
    for node, dimension, size in _sizes(program):
        environment = size.node.shape_env
        largest = size.node.hint if bound == "example" else bound
        missing = [each for each in _bounds_of(size, largest) if not _is_bounded(program, each[0])]
        if missing:
            _check(node, dimension, size, largest)
        for symbol, upper in missing:
            bounds[symbol] = min(upper, bounds.get(symbol, upper))
    if environment is None or not bounds:
        return program
    ranges = environment.var_to_range
    for symbol, upper in bounds.items():
        ranges[symbol] = ValueRanges(ranges[symbol].lower, upper)
    result = copy.copy(program)
    result._range_constraints = {
        expression: _narrowed(expression, values, ranges)
        if expression.free_symbols & bounds.keys()
        else values
        for expression, values in program.range_constraints.items()
    }
    return result


def _sizes(program: ExportedProgram) -> Iterator[tuple[Node, int, torch.SymInt]]:
    """The sizes of inputs that vary."""
    names = input_specs(program.graph_signature)
    for node in program.graph.find_nodes(op="placeholder"):
        value = node.meta.get("val")
        if node.name in names and isinstance(value, torch.Tensor):
            for dimension, size in enumerate(value.shape):
                if isinstance(size, torch.SymInt) and size.node.expr.free_symbols:
                    yield node, dimension, size


def _is_bounded(program: ExportedProgram, symbol: sympy.Symbol) -> bool:
    """By the program's own ranges: those of its shape environment may be from an earlier call."""
    values = program.range_constraints.get(symbol)
    return values is not None and values.upper.is_number and values.upper <= LARGEST_SIZE


def _bounds_of(size: torch.SymInt, largest: int) -> Iterator[tuple[sympy.Symbol, int]]:
    """How large the symbols of a size may be."""
    expression = size.node.expr
    for symbol in expression.free_symbols:
        scale, offset = expression.coeff(symbol), expression.subs(symbol, 0)
        is_linear = sympy.expand(scale * symbol + offset - expression) == 0
        if is_linear and scale.is_Integer and scale > 0 and offset.is_Integer:
            yield symbol, (largest - int(offset)) // int(scale)
        else:
            yield symbol, largest


def _check(node: Node, dimension: int, size: torch.SymInt, largest: int) -> None:
    smallest = bound_sympy(size.node.expr, size.node.shape_env.var_to_range).lower
    example = size.node.hint if size.node.has_hint() else 0
    if largest < max(example, smallest if smallest.is_number else 0):
        raise ExportError(
            ExportErrorType.NOT_SUPPORTED,
            f"max_dynamic_size is {largest}, but dimension {dimension} of input {node.name} is {example} in the "
            f"example, and at least {smallest}",
        )


def _narrowed(
    expression: sympy.Expr, values: ValueRanges, ranges: dict[sympy.Symbol, ValueRanges]
) -> ValueRanges:
    upper = bound_sympy(expression, ranges).upper
    return ValueRanges(values.lower, min(upper, values.upper))
