# SPDX-License-Identifier: BSD-3-Clause
"""Operators of torch become edge operators.

before: %y = torch.ops.aten.relu.default(%x)     after: %y = exir_ops.edge.aten.relu.default(%x)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, symbolic_trace

from executorch.exir.dialects.edge._ops import EdgeOpOverload, edge_op_of
from executorch.exir.pass_base import ExportPass, NodeMetadata, ProxyValue

# Operators that stay torch's.
DISALLOW_LIST = [
    torch.ops.aten._assert_scalar.default,
    torch.ops.aten._assert_async.msg,
    torch.ops.aten.scalar_tensor.default,
]
# Namespaces whose operators stay as they are: the runtime's core carries them out.
_NOT_EDGE = frozenset({"executorch_prim", "higher_order"})


def aten_to_edge(aten_op: torch._ops.OpOverload) -> EdgeOpOverload:
    return edge_op_of(aten_op)


def should_lower_to_edge(op: Callable[..., Any] | str) -> bool:
    return (
        isinstance(op, torch._ops.OpOverload)
        and op.namespace not in _NOT_EDGE
        and op not in DISALLOW_LIST
        and op is not torch.ops.aten.sym_size.int
        and op is not torch.ops.aten.sym_numel.default
    )


class OpReplacePass(ExportPass):
    """Changes call targets only."""

    def call_operator(
        self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], meta: NodeMetadata
    ) -> ProxyValue:
        target = aten_to_edge(op) if should_lower_to_edge(op) else op
        return super().call_operator(target, args, kwargs, meta)


def _trace_and_lower_to_edge_ops(function: Callable[..., Any]) -> GraphModule:
    """The graph of a pattern written with torch operators, as it looks in an edge program."""
    graph_module = symbolic_trace(function)
    for node in graph_module.graph.nodes:
        if node.op == "call_function" and should_lower_to_edge(node.target):
            node.target = aten_to_edge(node.target)
            node._rename(graph_module.graph._target_to_str(node.target))
    graph_module.recompile()
    return graph_module
