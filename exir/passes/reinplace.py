# SPDX-License-Identifier: BSD-3-Clause
"""Operators write their result into their first argument where nobody reads that argument again.

before: %y = index_put(%cache, [%i], %v)         after: %y = index_put_(%cache, [%i], %v)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.dialects.edge._ops import EdgeOpOverload, edge_op_of
from executorch.exir.graph_facts import written_placeholders
from executorch.exir.memory_lifetimes import writes_its_first_argument
from executorch.exir.operator.convert import unwrap_op_overload
from executorch.exir.passes.replace_view_copy_with_view_pass import shares_memory_as_view
from executorch.exir.program_copies import signature_for
from executorch.exir.retrace.op_rules import inplace_form
from executorch.exir.sym_util import surely_equal

DEFAULT_INPLACEABLE_OPS: frozenset[Any] = frozenset({exir_ops.edge.aten.index_put.default})


def _derive_edge_inplace_overload(functional_op: Any) -> EdgeOpOverload | None:
    """`add_.Tensor` for `add.Tensor`; None when there is none with the same arguments."""
    op = inplace_form(unwrap_op_overload(functional_op))
    return edge_op_of(op) if op is not None else None


def reinplace_pass(
    ep: ExportedProgram,
    ops_to_inplace: Iterable[Any] | None = None,
    inplace_overrides: dict[Any, Any] | None = None,
) -> ExportedProgram:
    """Works in place and gives `ep` back. `ops_to_inplace`: edge operators (index_put unless given);
    `inplace_overrides`: operators with the in-place form to use. Operators without one stay."""
    overrides = dict(inplace_overrides or {})
    for functional, inplace in overrides.items():
        _check_mapping(functional, inplace)
    wanted = DEFAULT_INPLACEABLE_OPS if ops_to_inplace is None else ops_to_inplace
    forms = {op: _derive_edge_inplace_overload(op) for op in wanted} | overrides
    writable = writable_inputs(ep)
    order = {node: place for place, node in enumerate(ep.graph.nodes)}
    for node in [n for n in ep.graph.nodes if forms.get(n.target) is not None]:
        if _may_write(node, writable, order):
            _replace(node, forms[node.target], order)
    ep._graph_signature = signature_for(ep.graph_signature, ep.graph_module)
    ep.graph_module.recompile()
    return ep


def _check_mapping(functional: Any, inplace: Any) -> None:
    before, after = unwrap_op_overload(functional)._schema, unwrap_op_overload(inplace)._schema
    types = [[str(argument.type) for argument in schema.arguments] for schema in (before, after)]
    first = after.arguments[0].alias_info if after.arguments else None
    if types[0] != types[1] or first is None or not first.is_write:
        raise ValueError(
            f"Schema mismatch in reinplace registration: {before} -> {after}. Expected the same arguments, of which "
            "the second operator writes the first"
        )


def writable_inputs(ep: ExportedProgram) -> set[str]:
    """Placeholders that the method overwrites anyway."""
    return set(written_placeholders(ep.graph_signature).values())


def _may_write(node: Node, writable: set[str], order: dict[Node, int]) -> bool:
    target = node.args[0]
    if not isinstance(target, Node) or not _same_tensor(target, node):
        return False
    return may_write_to(node, target, writable, order)


def may_write_to(node: Node, target: Node, writable: set[str], order: dict[Node, int]) -> bool:
    """Whether nobody reads the old value of `target`, an argument of `node`, after that call. `writable`: placeholders
    that may change; `order`: places in the graph."""
    if sum(source is target for source in _sources(node)) > 1:
        return False
    shared = _same_memory(target)
    if any(each.op != "call_function" and each.name not in writable for each in shared):
        return False
    now = order[node]
    return all(
        user is node or (user.op != "output" and order[user] < now)
        for each in shared
        for user in each.users
        if user not in shared
    )


def _sources(node: Node) -> list[Node]:
    found: list[Node] = []
    torch.fx.node.map_arg((node.args, node.kwargs), found.append)
    return found


def _same_tensor(one: Node, other: Node) -> bool:
    a, b = one.meta.get("val"), other.meta.get("val")
    return (
        isinstance(a, torch.Tensor)
        and isinstance(b, torch.Tensor)
        and a.dtype == b.dtype
        and a.dim() == b.dim()
        and all(surely_equal(x, y) for x, y in zip(a.shape, b.shape))
        and all(surely_equal(x, y) for x, y in zip(a.stride(), b.stride()))
    )


def _same_memory(node: Node) -> set[Node]:
    """What will lie in the memory of `node`: views of it, what it is a view of or was written into, and their views."""
    root = node
    while _passes_its_memory_on(root):
        root = root.args[0]
    found, stack = {root}, [root]
    while stack:
        for user in stack.pop().users:
            if user not in found and _passes_its_memory_on(user):
                found.add(user)
                stack.append(user)
    return found


def _passes_its_memory_on(node: Node) -> bool:
    if node.op != "call_function" or not node.args or not isinstance(node.args[0], Node):
        return False
    return shares_memory_as_view(node) or writes_its_first_argument(node)


def _replace(node: Node, inplace: EdgeOpOverload, order: dict[Node, int]) -> None:
    with node.graph.inserting_before(node):
        new = node.graph.call_function(inplace, node.args, node.kwargs)
    new.meta = dict(node.meta)
    order[new] = order[node]
    node.replace_all_uses_with(new)
    node.graph.erase_node(node)
