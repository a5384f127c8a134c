# SPDX-License-Identifier: BSD-3-Clause
"""Symbolic sizes as graph nodes: each expression is computed once, from `sym_size` of the tensors that carry
its symbols."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import sympy
import torch
from torch.fx import Graph, Node
from torch.utils._sympy.functions import (
    CleanDiv,
    FloatTrueDiv,
    FloorDiv,
    FloorToInt,
    IntTrueDiv,
    Max,
    Min,
    Mod,
    PythonMod,
    ToFloat,
)


class UnknownSymbol(Exception):
    """The expression holds a symbol no value of the graph carries, or an operation without a node form."""


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    sympy.Add: operator.add,
    sympy.Mul: operator.mul,
    FloorDiv: operator.floordiv,
    CleanDiv: operator.floordiv,
    FloatTrueDiv: operator.truediv,
    IntTrueDiv: operator.truediv,
    Mod: operator.mod,
    PythonMod: operator.mod,
    Max: torch.sym_max,
    Min: torch.sym_min,
    ToFloat: torch.sym_float,
    FloorToInt: torch.sym_int,
}


class SymbolTable:
    """Nodes of `graph` that compute symbolic scalars.

    `observe` learns which node carries which symbol; `node_for` gives (and creates where needed) the node of an
    expression.
    """

    def __init__(self, graph: Graph, fake_mode: Any) -> None:
        self._graph = graph
        self._shape_env = fake_mode.shape_env if fake_mode is not None else None
        self._sources: dict[sympy.Expr, tuple[Node, int | None]] = {}
        self._nodes: dict[sympy.Expr, Node] = {}

    def observe(self, node: Node, value: Any) -> None:
        """Notes the expressions that `node` carries: as the sizes of a tensor, or as its scalar value."""
        if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
            self._nodes.setdefault(value.node.expr, node)
            self._sources.setdefault(value.node.expr, (node, None))
        elif isinstance(value, torch.Tensor):
            for dim, size in enumerate(value.shape):
                if isinstance(size, torch.SymInt):
                    self._sources.setdefault(size.node.expr, (node, dim))

    def node_for(self, value: torch.SymInt | torch.SymFloat | torch.SymBool) -> Node | int | float:
        expr = value.node.expr
        if expr.is_number:
            return int(expr) if expr.is_integer else float(expr)
        return self._expression(expr)

    def _expression(self, expr: sympy.Expr) -> Any:
        if isinstance(expr, sympy.Integer):
            return int(expr)
        if isinstance(expr, sympy.Rational | sympy.Float):
            return float(expr)
        node = self._nodes.get(expr)
        if node is not None:
            return node
        node = self._size_node(expr) if expr in self._sources else self._compute(expr)
        self._nodes[expr] = node
        return node

    def _size_node(self, expr: sympy.Expr) -> Node:
        source, dim = self._sources[expr]
        if dim is None:
            return source
        return self._call(torch.ops.aten.sym_size.int, (source, dim), expr)

    def _compute(self, expr: sympy.Expr) -> Any:
        if isinstance(expr, sympy.Pow) and expr.exp.is_Integer and int(expr.exp) > 0:
            operands = [self._expression(expr.base)] * int(expr.exp)
            return self._fold(operator.mul, operands, [expr.base] * int(expr.exp))
        function = _FUNCTIONS.get(expr.func)
        if function is None or not expr.args:
            return self._from_a_multiple(expr)
        operands = [self._expression(arg) for arg in expr.args]
        if len(operands) > 2 or expr.func in (sympy.Add, sympy.Mul):
            return self._fold(function, operands, list(expr.args), expr.func)
        return self._call(function, tuple(operands), expr)

    def _from_a_multiple(self, symbol: sympy.Expr) -> Any:
        """A symbol that no value has by itself: k of an input whose size is 4 * k + 1."""
        for source in list(self._sources):
            factor = source.coeff(symbol) if source.free_symbols == {symbol} else sympy.Integer(0)
            rest = source - factor * symbol
            if factor.is_Integer and factor > 0 and rest.is_Integer:
                size = self._expression(source)
                if rest != 0:
                    size = self._call(operator.sub, (size, int(rest)), factor * symbol)
                return self._call(operator.floordiv, (size, int(factor)), symbol)
        raise UnknownSymbol(str(symbol))

    def _fold(
        self,
        function: Callable[..., Any],
        operands: list[Any],
        parts: list[sympy.Expr],
        combine: Callable[..., sympy.Expr] = sympy.Mul,
    ) -> Any:
        result, part = operands[0], parts[0]
        for operand, next_part in zip(operands[1:], parts[1:], strict=True):
            part = combine(part, next_part)
            result = self._call(function, (result, operand), part)
        return result

    def _call(self, target: Callable[..., Any], args: tuple[Any, ...], expr: sympy.Expr) -> Node:
        node = self._graph.call_function(target, args)
        node.meta["val"] = self._value(expr)
        return node

    def _value(self, expr: sympy.Expr) -> Any:
        hint = self._hint(expr)
        make = (
            self._shape_env.create_symfloatnode
            if expr.is_integer is False
            else self._shape_env.create_symintnode
        )
        return make(expr, hint=hint)

    def _hint(self, expr: sympy.Expr) -> int | None:
        hint = expr.xreplace(self._shape_env.backed_var_to_val)
        return int(hint) if hint.is_number else None
