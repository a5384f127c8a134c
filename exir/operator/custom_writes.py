# SPDX-License-Identifier: BSD-3-Clause
"""Operators that write into an argument and return something else, such as llama::update_cache. In the edge dialect
they stand inside auto_functionalized_v2, whose results are the operator's own and then the new values of what it
writes: (%result, %new_cache) = auto_functionalized_v2(op, value=..., _cache_base_index=0, _all_bases=[%cache])."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch.fx import Node

OpOverload = torch._ops.OpOverload
AUTO_FUNCTIONALIZED = torch.ops.higher_order.auto_functionalized_v2
_BASES = "_all_bases"


@functools.cache
def written_arguments(op: OpOverload) -> tuple[str, ...]:
    """Names of the tensors that `op` writes, out arguments aside."""
    return tuple(
        arg.name
        for arg in op._schema.arguments
        if arg.alias_info is not None and arg.alias_info.is_write and not arg.is_out
    )


@functools.cache
def writes_beside_results(op: OpOverload) -> bool:
    """True when `op` writes tensors but returns none of them."""
    schema = op._schema
    kinds = {arg.name: str(arg.type) for arg in schema.arguments}
    written = written_arguments(op)
    return (
        bool(written)
        and not any(arg.is_out for arg in schema.arguments)
        and all(kinds[name] == "Tensor" for name in written)
        and all(result.alias_info is None for result in schema.returns)
    )


def bound_arguments(
    op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The given arguments by name."""
    names = [arg.name for arg in op._schema.arguments]
    return {**dict(zip(names, args, strict=False)), **kwargs}


def functional_arguments(op: OpOverload, given: dict[str, Any]) -> dict[str, Any]:
    """Keyword arguments of auto_functionalized_v2 for a call of `op` with these arguments."""
    written = written_arguments(op)
    kwargs = {name: value for name, value in given.items() if name not in written}
    bases = []
    for name in written:
        kwargs[f"_{name}_base_index"] = len(bases)
        bases.append(given[name])
    return {**kwargs, _BASES: bases}


def is_functional_write(node: Node) -> bool:
    return node.op == "call_function" and node.target is AUTO_FUNCTIONALIZED


def written_values(node: Node) -> dict[str, Node]:
    """For a call of auto_functionalized_v2: the tensors that its operator writes, by the names of the arguments.
    Raises ValueError where it writes a part of a tensor."""
    op, kwargs = node.args[0], node.kwargs
    found = {}
    for name in written_arguments(op):
        own = {key for key in kwargs if key.startswith(f"_{name}_")}
        if own - {f"_{name}_base_index", f"_{name}_alias"}:
            raise ValueError(f"{op} writes a part of a tensor as `{name}`")
        found[name] = kwargs[_BASES][kwargs[f"_{name}_base_index"]]
    return found


def plain_arguments(node: Node) -> dict[str, Any]:
    """The arguments of the operator inside a call of auto_functionalized_v2, by name."""
    names = {arg.name for arg in node.args[0]._schema.arguments}
    kept = {name: value for name, value in node.kwargs.items() if name in names}
    return {**kept, **written_values(node)}


def place_of_new_value(node: Node, name: str) -> int:
    """Which result of a call of auto_functionalized_v2 is the new value of the argument `name`."""
    op = node.args[0]
    return len(op._schema.returns) + node.kwargs[f"_{name}_base_index"]
