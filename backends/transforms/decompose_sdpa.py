# SPDX-License-Identifier: BSD-3-Clause
"""Attention as matmuls and a softmax, in place.

before: scaled_dot_product_attention(%q, %k, %v, %mask)
after:  softmax(matmul(%q * s, transpose(%k) * s) + %mask) matmul %v, s the root of the scale
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.transforms.edits import finished, replace, traced_before
from executorch.exir.dialects.edge._ops import EdgeOpOverload
from executorch.exir.graph_facts import op_name
from executorch.exir.pass_base import ExportPass

_SDPA = "aten.scaled_dot_product_attention.default"
_aten = torch.ops.aten


class DecomposeScaledDotProductAttention(ExportPass):
    """Works on captured and on edge programs. ValueError for head counts that differ without `enable_gqa`. Dropout is
    none at inference."""

    _SDPA_OPTIONAL_ARGS = (
        ("attn_mask", None), ("dropout_p", 0.0), ("is_causal", False), ("scale", None),
        ("enable_gqa", False),
    )  # fmt: skip

    def __init__(self, allow_non_fake_inputs: bool = True) -> None:
        super().__init__()
        self.allow_non_fake_inputs = allow_non_fake_inputs

    def call(self, graph_module: GraphModule, allow_non_fake_inputs: bool = True) -> PassResult:
        calls = [node for node in graph_module.graph.nodes if op_name(node) == _SDPA]
        for node in calls:
            self._take_apart(node)
        return finished(graph_module, bool(calls))

    def _take_apart(self, node: Node) -> None:
        names = [name for name, _ in self._SDPA_OPTIONAL_ARGS]
        given = {**dict(self._SDPA_OPTIONAL_ARGS), **dict(zip(names, node.args[3:])), **node.kwargs}
        _check_heads(node, given["enable_gqa"])
        mask = given["attn_mask"]
        inputs = [*node.args[:3], *([] if mask is None else [mask])]
        attention = partial(
            _attention,
            is_edge=isinstance(node.target, EdgeOpOverload),
            is_causal=given["is_causal"],
            scale=given["scale"],
        )
        replace(node, traced_before(node, attention, inputs))


def _check_heads(node: Node, enable_gqa: bool) -> None:
    query, key = (each.meta["val"].shape for each in node.args[:2])
    if enable_gqa or len(query) < 3 or len(key) < 3:
        return
    if query[-3] != key[-3] and 1 not in (query[-3], key[-3]):
        raise ValueError(
            f"{node.name}: expected as many heads of keys as of queries, found {query[-3]} queries on {key[-3]} keys; "
            "grouped queries need enable_gqa=True"
        )


def _attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, *, is_edge: bool,
    is_causal: bool, scale: float | None,
) -> Tensor:  # fmt: skip
    key, value = (_with_heads_of(query, each) for each in (key, value))
    batch = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2])
    root = math.sqrt(query.shape[-1] ** -0.5 if scale is None else scale)
    keys = _aten.mul.Scalar(key.transpose(-2, -1), root)
    scores = _product(_aten.mul.Scalar(query, root), keys, batch)
    if is_causal:
        mask = _aten.full.default(scores.shape[-2:], True, dtype=torch.bool).tril()
    if mask is not None:
        scores = scores + _additive(mask, scores.dtype)
    weights = _softmax(scores, is_edge, may_hide_rows=mask is not None and not is_causal)
    return _product(weights, value, batch)


def _with_heads_of(query: Tensor, tensor: Tensor) -> Tensor:
    """Keys or values of groups, once for each query of their group."""
    heads, held = query.shape[-3:-2], tensor.shape[-3:-2]
    if heads == held or held == (1,):
        return tensor
    times = heads[0] // held[0]
    rest = tensor.shape[-2:]
    repeated = tensor.unsqueeze(-3).expand(*tensor.shape[:-2], times, *rest)
    return repeated.reshape(*tensor.shape[:-3], *heads, *rest)


def _product(first: Tensor, second: Tensor, batch: Any) -> Tensor:
    """By bmm, which takes three dimensions."""
    flat = []
    for each in (first, second):
        if each.shape[:-2] != batch:
            each = each.expand(*batch, *each.shape[-2:])
        flat.append(each.reshape(math.prod(batch), *each.shape[-2:]))
    result = _aten.bmm.default(*flat)
    return result.view(*batch, *result.shape[-2:])


def _additive(mask: Tensor, dtype: torch.dtype) -> Tensor:
    if mask.dtype != torch.bool:
        return mask
    zero, never = (_aten.full.default([1], each, dtype=dtype) for each in (0.0, -math.inf))
    return torch.where(mask, zero, never)


def _softmax(scores: Tensor, is_edge: bool, may_hide_rows: bool) -> Tensor:
    """A row of which nothing is seen gives zeros, as in the operator; plain softmax gives NaN there."""
    if not may_hide_rows:
        return _aten._softmax.default(scores, -1, False)
    if not is_edge:
        return _aten._safe_softmax.default(scores, -1)
    hidden = _aten.amax.default(scores, [-1], True) == -math.inf
    zero = _aten.full.default([1], 0.0, dtype=scores.dtype)
    return torch.where(hidden, zero, _aten._softmax.default(scores, -1, False))
