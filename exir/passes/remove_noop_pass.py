# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Copies that change nothing go.

before: %y = _to_dim_order_copy(%x, dtype=float32), %x float32     after: %x
"""

from __future__ import annotations

import importlib
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.backend.lowering.quantized import is_dequantize, quantizes_back
from executorch.exir.graph_facts import torch_op
from executorch.exir.pass_base import ExportPass

_aten = torch.ops.aten
_TO_COPY = frozenset({"aten::_to_copy", "dim_order_ops::_to_dim_order_copy"})
_NOOPS = _TO_COPY | {
    "aten::clone",
    "aten::alias_copy",
    "aten::detach_copy",
    "aten::expand_copy",
    "aten::view_copy",
    "aten::slice_copy",
    "aten::permute_copy",
    "dim_order_ops::_clone_dim_order",
}


def _remove(graph_module: GraphModule, names: frozenset[str]) -> PassResult:
    modified = False
    for module in graph_module.modules():
        if isinstance(module, GraphModule):
            for node in list(module.graph.nodes):
                if _is_noop(node, names):
                    node.replace_all_uses_with(node.args[0])
                    module.graph.erase_node(node)
                    modified = True
    return PassResult(graph_module, modified)


def _is_noop(node: Node, names: frozenset[str]) -> bool:
    if node.op != "call_function" or _schema_name(node.target) not in names:
        return False
    source = node.args[0]
    if source.op == "placeholder" and any(user.op == "output" for user in node.users):
        return False  # an output owns its memory
    if _schema_name(node.target) == "aten::permute_copy" and not _is_identity(node.args[1]):
        return False
    before, after = source.meta["val"], node.meta["val"]
    return (
        before.dtype == after.dtype
        and before.device == after.device
        and str(tuple(before.shape)) == str(tuple(after.shape))
        and str(before.stride()) == str(after.stride())
    )


def _schema_name(target: Any) -> str | None:
    op = torch_op(target)
    return op._schema.name if op is not None else None


def _is_identity(dims: list[int]) -> bool:
    return all(dim % len(dims) == place for place, dim in enumerate(dims))


class RemoveNoopPass(ExportPass):
    """Removes copies, views and casts that give what they got, and pairs of dequantize and quantize around
    nothing. Works in place."""

    def call(self, graph_module: GraphModule) -> PassResult:
        result = _remove(graph_module, _NOOPS)
        nodes = graph_module.graph.nodes
        before = len(nodes)
        eliminate_dq_q(graph_module, [node for node in nodes if is_dequantize(node)])
        return PassResult(graph_module, result.modified or len(nodes) != before)


def __getattr__(name: str) -> Any:
    """`_DEQUANT_OPS`, for which the operators must be defined first."""
    if name != "_DEQUANT_OPS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    primitives = importlib.import_module("executorch.exir.operator.util")._QUANT_PRIMITIVES
    kind = "quantized_decomposed::dequantize_"
    return tuple(op for op in primitives if op._schema.name.startswith(kind))


def eliminate_dq_q(graph_module: GraphModule, dequant_nodes: list[Node]) -> None:
    """quantize(dequantize(%q, p), p) -> %q for each given dequantize, where the parameters are the same."""
    for dequantize in dequant_nodes:
        for user in list(dequantize.users):
            if quantizes_back(user):
                user.replace_all_uses_with(dequantize.args[0])
                graph_module.graph.erase_node(user)
        if not dequantize.users:
            graph_module.graph.erase_node(dequantize)


class RemoveToCopyPass(ExportPass):
    """Removes conversions that convert nothing. Works in place."""

    def call(self, graph_module: GraphModule) -> PassResult:
        return _remove(graph_module, _TO_COPY)
