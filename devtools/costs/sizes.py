# SPDX-License-Identifier: BSD-3-Clause
"""The sizes that a program with dynamic dimensions has for certain inputs.

before: %linear [s0, 64] of x [s0, 64]        after, for an x of 3 rows: %linear [3, 64]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import sympy
import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node
from torch.utils import _pytree as pytree

Symbols = Mapping[sympy.Symbol, int]


def set_sizes(program: ExportedProgram, inputs: Sequence[Any]) -> None:
    """In place: `val` of nodes, those of branches included, becomes a tensor of the sizes that these inputs lead to.
    Sizes that only a run tells (nonzero, item) stay symbols, as all do for inputs of other shapes."""
    symbols = dict(_symbols(program, pytree.tree_leaves(inputs)))
    for module in program.graph_module.modules() if symbols else ():
        for node in module.graph.nodes if isinstance(module, GraphModule) else ():
            if "val" in node.meta:
                node.meta["val"] = pytree.tree_map(
                    lambda value: _with_sizes(value, symbols), node.meta["val"]
                )


def has_open_sizes(nodes: Iterable[Node]) -> bool:
    """Whether some size of what these nodes read or write is not known."""
    mine = set(nodes)
    values = [
        node.meta.get("val")
        for node in mine | {each for one in mine for each in one.all_input_nodes}
    ]
    tensors = (each for each in pytree.tree_leaves(values) if isinstance(each, torch.Tensor))
    return any(not isinstance(size, int) for tensor in tensors for size in tensor.shape)


def _symbols(program: ExportedProgram, given: Sequence[Any]) -> Iterator[tuple[Any, int]]:
    names = program.graph_signature.user_inputs
    by_name = {node.name: node for node in program.graph.find_nodes(op="placeholder")}
    for name, value in zip(names, given):
        traced = by_name[name].meta.get("val") if name in by_name else None
        if isinstance(traced, torch.Tensor) and isinstance(value, torch.Tensor):
            for size, found in zip(traced.shape, value.shape):
                yield from _solved(size, found)
        elif isinstance(value, int):
            yield from _solved(traced, value)


def _solved(size: Any, found: int) -> Iterator[tuple[Any, int]]:
    """From "2 * s0 = 6" that s0 is 3."""
    if not isinstance(size, torch.SymInt):
        return
    expression = size.node.expr
    symbols = expression.free_symbols
    if len(symbols) == 1:
        (symbol,) = symbols
        for solution in sympy.solve(expression - found, symbol):
            if solution.is_Integer:
                yield symbol, int(solution)


def _with_sizes(value: Any, symbols: Symbols) -> Any:
    if isinstance(value, torch.SymInt):
        return _number(value, symbols)
    if not isinstance(value, torch.Tensor) or all(isinstance(size, int) for size in value.shape):
        return value
    sizes = [_number(size, symbols) for size in value.shape]
    if not all(isinstance(size, int) for size in sizes):
        return value
    return torch.empty(sizes, dtype=value.dtype, device="meta")


def _number(size: Any, symbols: Symbols) -> Any:
    if not isinstance(size, torch.SymInt):
        return size
    found = size.node.expr.subs(symbols)
    return int(found) if found.is_Integer else size
