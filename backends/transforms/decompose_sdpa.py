# SPDX-License-Identifier: BSD-3-Clause
"""Attention as matmuls and a softmax.

before: scaled_dot_product_attention(%q, %k, %v, %mask)
after:  softmax(matmul(%q * s, transpose(%k * s)) + %mask) matmul %v, s the root of the scale
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.pass_base import ExportPass, NodeMetadata, ProxyValue

_SDPA = torch.ops.aten.scaled_dot_product_attention.default
_aten, _edge = torch.ops.aten, exir_ops.edge.aten


class _Ops:
    """The operators of one dialect."""

    def __init__(self, is_edge: bool) -> None:
        library = _edge if is_edge else _aten
        self.mul, self.bmm = library.mul.Scalar, library.bmm.default
        self.softmax = library._softmax.default
        self.transpose = library.transpose_copy.int if is_edge else library.transpose.int
        self.view = library.view_copy.default if is_edge else library.view.default
        self.expand = library.expand_copy.default if is_edge else library.expand.default
        self.clone, self.add = library.clone.default, library.add.Tensor
        self.full, self.where = library.full.default, library.where.self
        self.tril = library.tril.default


class DecomposeScaledDotProductAttention(ExportPass):
    """ValueError for grouped queries (`enable_gqa`): repeat the keys and values first. Dropout is none at inference."""

    _SDPA_OPTIONAL_ARGS = (
        ("attn_mask", None), ("dropout_p", 0.0), ("is_causal", False), ("scale", None),
        ("enable_gqa", False),
    )  # fmt: skip

    def __init__(self, allow_non_fake_inputs: bool = True) -> None:
        super().__init__()
        self.allow_non_fake_inputs = allow_non_fake_inputs

    def call(self, graph_module: GraphModule, allow_non_fake_inputs: bool = True) -> PassResult:
        targets = (_SDPA, _edge.scaled_dot_product_attention.default)
        if not any(node.target in targets for node in graph_module.graph.nodes):
            return PassResult(graph_module, False)
        return super().call(graph_module)

    def call_operator(self, op: Any, args: Any, kwargs: Any, meta: NodeMetadata) -> ProxyValue:
        if op not in (_SDPA, _edge.scaled_dot_product_attention.default):
            return super().call_operator(op, args, kwargs, meta)
        names = [name for name, _ in self._SDPA_OPTIONAL_ARGS]
        given = {**dict(self._SDPA_OPTIONAL_ARGS), **dict(zip(names, args[3:])), **kwargs}
        query, key, value = args[:3]
        if given["enable_gqa"] and query.data.shape[-3] != key.data.shape[-3]:
            raise ValueError(
                f"attention with grouped queries (enable_gqa, {query.data.shape[-3]} heads on {key.data.shape[-3]}) is "
                "not decomposed; repeat keys and values first (repeat_interleave)"
            )
        return self._attention(op is not _SDPA, query, key, value, given, meta)

    def _attention(
        self, is_edge: bool, query: ProxyValue, key: ProxyValue, value: ProxyValue,
        given: dict[str, Any], meta: NodeMetadata,
    ) -> ProxyValue:  # fmt: skip
        ops = _Ops(is_edge)

        def run(op: Any, *args: Any, **kwargs: Any) -> ProxyValue:
            return ExportPass.call_operator(self, op, args, kwargs, meta)

        def flat(tensor: ProxyValue) -> ProxyValue:
            """[batch, heads, rows, columns] as [batch * heads, rows, columns], contiguous."""
            wanted = [*batch, *tensor.data.shape[-2:]]
            if list(tensor.data.shape) != wanted:
                tensor = run(ops.expand, tensor, wanted)
            tensor = run(ops.clone, tensor, memory_format=torch.contiguous_format)
            return run(ops.view, tensor, [math.prod(batch), *tensor.data.shape[-2:]])

        batch = list(torch.broadcast_shapes(query.data.shape[:-2], key.data.shape[:-2]))
        scale = given["scale"] if given["scale"] is not None else query.data.shape[-1] ** -0.5
        root = math.sqrt(scale)
        keys = run(ops.transpose, run(ops.mul, key, root), -2, -1)
        scores = run(ops.bmm, flat(run(ops.mul, query, root)), flat(keys))
        scores = run(ops.view, scores, [*batch, *scores.data.shape[-2:]])
        mask = given["attn_mask"]
        if given["is_causal"]:
            ones = run(ops.full, list(scores.data.shape[-2:]), True, dtype=torch.bool)
            mask = run(ops.tril, ones)
        if mask is not None and mask.data.dtype == torch.bool:
            options = {"dtype": scores.data.dtype}
            zero, never = (run(ops.full, [1], x, **options) for x in (0.0, -math.inf))
            mask = run(ops.where, mask, zero, never)
        if mask is not None:
            scores = run(ops.add, scores, mask)
        weights = run(ops.softmax, scores, -1, False)
        result = run(ops.bmm, flat(weights), flat(value))
        return run(ops.view, result, [*batch, *result.data.shape[-2:]])
