# SPDX-License-Identifier: BSD-3-Clause
"""Passes that language models need beside the usual ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.experimental.symbolic_shapes import statically_known_true

from executorch.backends.transforms.edits import (
    call_before,
    finished,
    is_constant,
    replace,
    traced_before,
)
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.graph_facts import op_name
from executorch.exir.pass_base import ExportPass, PassResult
from executorch.extension.llm.custom_ops.blocks import MOST_WEIGHTS

_SDPA = torch.ops.aten.scaled_dot_product_attention.default
_BLOCKS = "llama.linear_of_blocks.default"
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
        return finished(graph_module, changed)


class ReplaceSDPAWithCustomSDPAPass(ExportPass):
    """scaled_dot_product_attention -> llama::custom_sdpa, which reads (batch, tokens, heads, head); in place.

    A mask loses its leading dimensions of size 1; with `assume_causal_mask` it is left out, and the operator makes a
    causal one. Calls of other ranks, and with a mask for each of a batch, which the operator has not, stay. A query
    whose mask hides every key gets NaN by the operator, where it had zeros.
    """

    def __init__(self, assume_causal_mask: bool = False) -> None:
        super().__init__()
        self.assume_causal_mask = assume_causal_mask

    def call(self, graph_module: GraphModule) -> PassResult:
        from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401

        changed = False
        for node in list(graph_module.graph.nodes):
            if node.op == "call_function" and node.target is _SDPA:
                changed |= self._replace(node)
        return finished(graph_module, changed)

    def _replace(self, node: Node) -> bool:
        names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
        given = {**dict(zip(names, node.args)), **node.kwargs}
        inputs, causal = [given[name] for name in names[:3]], bool(given.get("is_causal", False))
        mask = given.get("attn_mask")
        if self.assume_causal_mask:
            mask, causal = None, True
        if mask is not None:
            inputs.append(mask)
            if any(size != 1 for size in mask.meta["val"].shape[:-2]):
                return False
        if any(each.meta["val"].dim() != 4 for each in inputs[:3]):
            return False
        attention = partial(_custom_sdpa, is_causal=causal, scale=given.get("scale"))
        replace(node, traced_before(node, attention, inputs))
        return True


def _custom_sdpa(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None = None,
    *,
    is_causal: bool,
    scale: float | None,
) -> torch.Tensor:
    rows = [each.transpose(1, 2) for each in (query, key, value)]
    sizes = query.shape[2], key.shape[2]
    if mask is None and not statically_known_true(sizes[0] == sizes[1]):
        # without a mask the operator sees as many keys as there are queries
        mask = torch.ops.aten.full.default(sizes, True, dtype=torch.bool)
        mask, is_causal = mask.tril() if is_causal else mask, False
    elif mask is not None:
        for _ in range(mask.dim() - 2):
            mask = mask.squeeze(0)
        mask = mask.expand(sizes).contiguous() if mask.shape != sizes else mask
    out = torch.ops.llama.custom_sdpa(*rows, 0, mask, 0.0, is_causal, scale)
    return out.transpose(1, 2)


class JoinLinearsOfBlocks(ExportPass):
    """Calls of llama::linear_of_blocks on one x -> one call: x becomes integers once, and threads start once.

    before: x -> linear_of_blocks([q]) -> [0]; x -> linear_of_blocks([k]) -> [0]
    after:  x -> linear_of_blocks([q, k]) -> [0], [1]
    """

    def call(self, graph_module: GraphModule) -> PassResult:
        calls: dict[tuple[Any, ...], list[Node]] = {}
        for node in graph_module.graph.nodes:
            if op_name(node) == _BLOCKS and _reads_one_constant(node):
                calls.setdefault((node.args[0], *node.args[5:]), []).append(node)
        parts = [
            same[at : at + MOST_WEIGHTS]
            for same in calls.values()
            for at in range(0, len(same), MOST_WEIGHTS)
        ]
        joined = [_join(part) for part in parts]
        return finished(graph_module, any(joined))


def _reads_one_constant(call: Node) -> bool:
    return len(call.args[1]) == 1 and all(map(is_constant, call.all_input_nodes[1:]))


def _join(calls: Sequence[Node]) -> bool:
    """Calls of one weight each, in the place of the first; their results' users read the new call."""
    if len(calls) < 2:
        return False
    x, *lists = calls[0].args
    lists = [[each.args[i][0] for each in calls] for i in range(1, 5)]
    call = call_before(calls[0], calls[0].target, (x, *lists, *calls[0].args[5:]))
    for place, each in enumerate(calls):
        for user in list(each.users):
            user.args = (call, place)
    return True
