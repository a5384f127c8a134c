# SPDX-License-Identifier: BSD-3-Clause
"""Attention of captured modules by llama::custom_sdpa gives what it gave before."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim

from executorch.exir.graph_facts import op_name
from executorch.extension.llm.export.export_passes import ReplaceSDPAWithCustomSDPAPass

CUSTOM, PLAIN = "llama.custom_sdpa.default", "aten.scaled_dot_product_attention.default"
LOWER = torch.ones(6, 6, dtype=torch.bool).tril()
CASES = {
    # name: (queries, keys, mask, options)
    "plain": (6, 6, None, {}),
    "causal": (6, 6, None, {"is_causal": True}),
    "scale": (6, 6, None, {"scale": 0.25}),
    "mask of 2 dims": (6, 6, LOWER, {}),
    "mask of 4 dims": (6, 6, LOWER[None, None], {}),
    "numbers": (6, 6, torch.randn(6, 6), {}),
    "one row for all queries": (6, 6, torch.randn(1, 6), {}),
    "more keys": (6, 9, None, {}),
    "fewer keys": (6, 4, None, {}),
    "causal, more keys": (6, 9, None, {"is_causal": True}),
    "causal, fewer keys": (6, 4, None, {"is_causal": True}),
}


class Attention(nn.Module):
    def __init__(self, mask: torch.Tensor | None, options: dict[str, Any]) -> None:
        super().__init__()
        self.register_buffer("mask", mask)
        self.options = options

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> dict[str, torch.Tensor]:
        out = nn.functional.scaled_dot_product_attention(q, k, v, self.mask, **self.options)
        return {"attention": out}


def inputs_of(queries: int, keys: int, batch: int = 2) -> tuple[torch.Tensor, ...]:
    return tuple(torch.randn(batch, 4, rows, 8) for rows in (queries, keys, keys))


def operators(graph_module: torch.fx.GraphModule) -> list[str]:
    return [name for node in graph_module.graph.nodes if (name := op_name(node)) in (CUSTOM, PLAIN)]


@pytest.mark.parametrize("case", CASES)
def test_attention_gives_what_it_gave_before(case: str) -> None:
    queries, keys, mask, options = CASES[case]
    inputs, model = inputs_of(queries, keys), Attention(mask, options)
    module = torch.export.export(model, inputs).module()
    result = ReplaceSDPAWithCustomSDPAPass()(module)
    assert result.graph_module is module and result.modified
    assert operators(module) == [CUSTOM]
    torch.testing.assert_close(module(*inputs), model(*inputs))


def test_keys_that_vary_in_number() -> None:
    model, inputs = Attention(None, {}), inputs_of(6, 9)
    keys = {2: Dim("keys", min=2, max=20)}
    module = torch.export.export(model, inputs, dynamic_shapes=({}, keys, keys)).module()
    ReplaceSDPAWithCustomSDPAPass()(module)
    for count in (3, 6, 17):
        others = inputs_of(6, count)
        torch.testing.assert_close(module(*others), model(*others))


def test_a_causal_mask_may_be_assumed() -> None:
    inputs = inputs_of(6, 6)
    module = torch.export.export(Attention(torch.zeros(6, 6), {}), inputs).module()
    ReplaceSDPAWithCustomSDPAPass(assume_causal_mask=True)(module)
    torch.testing.assert_close(module(*inputs), Attention(None, {"is_causal": True})(*inputs))


@pytest.mark.parametrize("shape", [(2, 1, 6, 6), (4, 6, 6)], ids=str)
def test_a_mask_for_each_of_a_batch_or_of_heads_stays(shape: tuple[int, ...]) -> None:
    inputs, model = inputs_of(6, 6), Attention(torch.randn(shape), {})
    module = torch.export.export(model, inputs).module()
    assert not ReplaceSDPAWithCustomSDPAPass()(module).modified
    assert operators(module) == [PLAIN]
