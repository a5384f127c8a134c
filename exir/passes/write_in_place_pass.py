# SPDX-License-Identifier: BSD-3-Clause
"""Operators write into the tensors that they are given, where nobody reads the old values again; else into a copy.

before: %r = auto_functionalized_v2(update_cache, value=%v, start_pos=%p, _cache_base_index=0, _all_bases=[%cache])
        %new = getitem(%r, 1)
after:  %r = llama.update_cache(%v, %cache, %p)         (users of %new read %cache)
"""

from __future__ import annotations

from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Graph, GraphModule, Node

from executorch.exir.dialects.edge._ops import edge_op_of
from executorch.exir.error import ExportError, ExportErrorType, source_line
from executorch.exir.operator.custom_writes import (
    is_functional_write,
    place_of_new_value,
    plain_arguments,
    written_values,
)
from executorch.exir.passes.reinplace import may_write_to, writable_inputs
from executorch.exir.program_copies import signature_for
from executorch.exir.tensor import dim_order_of


def write_in_place(program: ExportedProgram) -> ExportedProgram:
    """Works in place and gives `program` back; branches of conditions and bodies of loops included."""
    modules = [m for m in program.graph_module.modules() if isinstance(m, GraphModule)]
    changed = False
    for module in modules:
        writable = writable_inputs(program) if module is program.graph_module else set()
        changed = _rewrite(module.graph, writable) or changed
    if changed:
        program._graph_signature = signature_for(program.graph_signature, program.graph_module)
        for module in modules:
            module.recompile()
    return program


def _rewrite(graph: Graph, writable: set[str]) -> bool:
    calls = [node for node in graph.nodes if is_functional_write(node)]
    for node in calls:
        order = {each: place for place, each in enumerate(graph.nodes)}
        try:
            targets = written_values(node)
        except ValueError as error:
            raise ExportError(
                ExportErrorType.NOT_SUPPORTED,
                f"{node.name}: {error}; programs write whole tensors: give it a buffer of its own"
                f"{source_line(node)}",
            ) from error
        arguments = plain_arguments(node)
        for name, target in targets.items():
            if not may_write_to(node, target, writable, order):
                arguments[name] = _copy_of(target, node)
        _replace(node, arguments, targets)
    return bool(calls)


def _copy_of(target: Node, before: Node) -> Node:
    value = target.meta["val"]
    dim_order = list(dim_order_of(value))
    with before.graph.inserting_before(before):
        op = edge_op_of(torch.ops.dim_order_ops._clone_dim_order.default)
        copy = before.graph.call_function(op, (target,), {"dim_order": dim_order})
    copy.meta = {**before.meta, "val": value}
    return copy


def _replace(node: Node, arguments: dict[str, Any], written: dict[str, Node]) -> None:
    op = node.args[0]
    results = op._schema.returns
    new_values = {place_of_new_value(node, name): arguments[name] for name in written}
    with node.graph.inserting_before(node):
        positional = [
            arguments.pop(arg.name)
            for arg in op._schema.arguments
            if arg.name in arguments and not arg.kwarg_only
        ]
        call = node.graph.call_function(edge_op_of(op), tuple(positional), arguments)
    call.meta = dict(node.meta)
    values = node.meta["val"]
    call.meta["val"] = values[0] if len(results) == 1 else tuple(values[: len(results)])
    for user in list(node.users):
        place = user.args[1]
        if place in new_values:
            user.replace_all_uses_with(new_values[place])
        elif len(results) == 1:
            user.replace_all_uses_with(call)
        else:
            user.args = (call, place)
            continue
        node.graph.erase_node(user)
    node.graph.erase_node(node)
