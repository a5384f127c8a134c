# SPDX-License-Identifier: BSD-3-Clause
"""Attention taken apart, in place, gives eager's numbers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.fx import GraphModule

from executorch.backends.test.pass_checks import calls
from executorch.backends.transforms.decompose_sdpa import DecomposeScaledDotProductAttention
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.graph_facts import op_name

SDPA = "scaled_dot_product_attention.default"
HEADS = {"query": (2, 4, 5, 8), "keys": (2, 4, 6, 8), "groups": (2, 2, 6, 8)}
LOWER = torch.ones(5, 6, dtype=torch.bool).tril()
HIDDEN = LOWER.clone()
HIDDEN[2] = False  # nothing is seen: zeros
CASES = {
    # name: (shape of keys and values, mask, options)
    "plain": ("keys", None, {}),
    "causal": ("keys", None, {"is_causal": True}),
    "numbers": ("keys", torch.randn(5, 6), {}),
    "truths": ("keys", LOWER, {"scale": 0.3}),
    "a row without keys": ("keys", HIDDEN, {}),
    "a row without keys, in numbers": ("keys", torch.zeros(5, 6).masked_fill(~HIDDEN, -torch.inf), {}),
    "groups": ("groups", None, {"enable_gqa": True}),
}  # fmt: skip


class Attention(nn.Module):
    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.options = options

    def forward(
        self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None
    ) -> torch.Tensor:
        return nn.functional.scaled_dot_product_attention(q, k, v, mask, **self.options)


class Layer(nn.Module):
    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.attention = Attention(**options)

    def forward(
        self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        return self.attention(q, k, v, mask)


def exported(layer: Layer, inputs: tuple[torch.Tensor, ...], shapes: Any = None) -> GraphModule:
    program = torch.export.export(layer, inputs, dynamic_shapes=shapes)
    return program.module(check_guards=False)


@pytest.mark.parametrize("is_edge", [False, True], ids=["aten", "edge"])
@pytest.mark.parametrize("case", CASES)
def test_attention_is_taken_apart(case: str, is_edge: bool) -> None:
    shape, mask, options = CASES[case]
    q, k, v = (torch.randn(HEADS[name]) for name in ("query", shape, shape))
    inputs = (q, k, v) if mask is None else (q, k, v, mask)
    layer = Layer(**options)
    graph_module = exported(layer, inputs)
    (old,) = (node for node in graph_module.graph.nodes if op_name(node))
    if is_edge:
        old.target = exir_ops.edge.aten.scaled_dot_product_attention.default
    stack = old.meta["nn_module_stack"]
    result = DecomposeScaledDotProductAttention()(graph_module)
    assert result.graph_module is graph_module and result.modified
    count = Counter(calls(graph_module))
    assert count["bmm.default"] == 2 and count["mul.Scalar"] == 2 and count[SDPA] == 0
    made = [node for node in graph_module.graph.nodes if op_name(node)]
    assert all(node.meta["nn_module_stack"] == stack and "val" in node.meta for node in made)
    assert {is_edge} == {repr(node.target).startswith("<EdgeOp") for node in made}
    torch.testing.assert_close(graph_module(*inputs), layer(*inputs))


def test_a_module_that_checks_inputs_stays() -> None:
    """`ExportedProgram.module()` has a call of `_guards_fn`, which gives nothing (for callers in some folders: written
    here by hand)."""
    inputs = tuple(torch.randn(HEADS["query"]) for _ in range(3))
    graph_module = exported(Layer(), inputs)
    graph_module._guards_fn = nn.Identity()
    first, *rest = graph_module.graph.find_nodes(op="placeholder")
    with graph_module.graph.inserting_after((first, *rest)[-1]):
        graph_module.graph.call_module("_guards_fn", (first,))
    result = DecomposeScaledDotProductAttention()(graph_module)
    assert result.modified and SDPA not in calls(graph_module)
    assert [n.target for n in graph_module.graph.find_nodes(op="call_module")] == ["_guards_fn"]


def test_sizes_that_vary() -> None:
    tokens, batch = Dim("tokens", min=2, max=20), Dim("batch", min=2, max=6)
    layer, inputs = Layer(), tuple(torch.randn(HEADS["query"]) for _ in range(3))
    graph_module = exported(layer, inputs, ({0: batch, 2: tokens},) * 3)
    DecomposeScaledDotProductAttention()(graph_module)
    others = tuple(torch.randn(3, 4, 9, 8) for _ in range(3))
    torch.testing.assert_close(graph_module(*others), layer(*others))


def test_other_heads_of_keys_need_groups() -> None:
    q, k, v = (torch.randn(HEADS[name]) for name in ("query", "keys", "keys"))
    graph_module = exported(Layer(), (q, k, v))
    key = graph_module.graph.find_nodes(op="placeholder")[1]
    key.meta["val"] = key.meta["val"][:, :2]
    with pytest.raises(ValueError, match=r"4 queries on 2 keys; .*enable_gqa=True"):
        DecomposeScaledDotProductAttention()(graph_module)
