# SPDX-License-Identifier: BSD-3-Clause
"""Passes that language models need beside the usual ones."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.pass_base import ExportPass, PassResult

_EDGE = exir_ops.edge.aten
_SWAPS = {
    torch.ops.aten.transpose.int,
    torch.ops.aten.transpose_copy.int,
    _EDGE.transpose_copy.int,
}
_PERMUTES = {
    torch.ops.aten.permute.default,
    torch.ops.aten.permute_copy.default,
    _EDGE.permute_copy.default,
}


def _order(node: Any) -> list[int] | None:
    """The order of dimensions that a transpose or permute gives; None for other nodes."""
    if not isinstance(node, Node) or node.op != "call_function":
        return None
    if node.target in _PERMUTES:
        rank = len(node.args[1])
        return [dim % rank for dim in node.args[1]]
    if node.target in _SWAPS:
        rank = node.meta["val"].dim()
        order = list(range(rank))
        first, second = (dim % rank for dim in node.args[1:3])
        order[first], order[second] = second, first
        return order
    return None


class RemoveRedundantTransposes(ExportPass):
    """transpose(transpose(x)) that puts dimensions back where they were -> x.

    before: cache -> transpose(1, 2) -> transpose(1, 2) -> sdpa
    after:  cache -> sdpa
    """

    def call(self, graph_module: GraphModule) -> PassResult:
        changed = False
        for node in list(graph_module.graph.nodes):
            outer = _order(node)
            inner = _order(node.args[0]) if outer is not None else None
            if inner is None or [inner[dim] for dim in outer] != sorted(outer):
                continue
            node.replace_all_uses_with(node.args[0].args[0])
            changed = True
        if changed:
            graph_module.graph.eliminate_dead_code()
            graph_module.recompile()
        return PassResult(graph_module, changed)


class ReplaceSDPAWithCustomSDPAPass(ExportPass):
    """scaled_dot_product_attention -> llama::custom_sdpa, which reads (batch, tokens, heads, head).

    A mask of two dimensions is taken as it is, one of more loses its leading ones; with `assume_causal_mask` it is
    left out, and the operator makes a causal one.
    """

    def __init__(self, assume_causal_mask: bool = False) -> None:
        super().__init__()
        self.assume_causal_mask = assume_causal_mask

    def call_operator(self, op: Any, args: Any, kwargs: Any, meta: Any) -> Any:
        if op is not torch.ops.aten.scaled_dot_product_attention.default:
            return super().call_operator(op, args, kwargs, meta)
        from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401

        names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
        given = {**dict(zip(names, args)), **kwargs}
        q, k, v = (
            super(ReplaceSDPAWithCustomSDPAPass, self).call_operator(
                torch.ops.aten.transpose.int, (given[name], 1, 2), {}, meta
            )
            for name in ("query", "key", "value")
        )
        mask, causal = given.get("attn_mask"), bool(given.get("is_causal", False))
        if self.assume_causal_mask:
            mask, causal = None, True
        if mask is not None:
            for _ in range(mask.data.dim() - 2):
                mask = super().call_operator(torch.ops.aten.select.int, (mask, 0, 0), {}, meta)
        scale = given.get("scale")
        out = super().call_operator(
            torch.ops.llama.custom_sdpa.default, (q, k, v, 0, mask, 0.0, causal, scale), {}, meta
        )
        return super().call_operator(torch.ops.aten.transpose.int, (out, 1, 2), {}, meta)
