# SPDX-License-Identifier: BSD-3-Clause
"""Attention of captured modules by llama::custom_sdpa gives what it gave before."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim

from executorch.exir import to_edge
from executorch.exir.graph_facts import op_name
from executorch.extension.llm.export.export_passes import (
    FuseRows,
    JoinLinearsOfBlocks,
    ReplaceSDPAWithCustomSDPAPass,
)
from executorch.extension.llm.formats.blocks import BLOCK_FORMATS
from executorch.extension.llm.formats.panels import NUMBERS, pack_panels
from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.feed_forward import FeedForward
from executorch.extension.llm.model.norms import RMSNorm
from executorch.extension.llm.model.rope import Rope
from executorch.extension.llm.quantization.blocks import BlockLinear

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


class Projections(nn.Module):
    """Layers of blocks; `pairs` of an input and how many layers read it."""

    def __init__(self, *readers: int) -> None:
        super().__init__()
        self.readers = readers
        self.layers = nn.ModuleList(_block_linear(16 + i, i % 2 == 1) for i in range(sum(readers)))

    def forward(self, *inputs: torch.Tensor) -> list[torch.Tensor]:
        read = [x for x, count in zip(inputs, self.readers) for _ in range(count)]
        return [layer(x) for layer, x in zip(self.layers, read)]


def _block_linear(rows: int, has_bias: bool) -> BlockLinear:
    number = NUMBERS["Q4_0" if has_bias else "Q8_0"]
    form = BLOCK_FORMATS[number]
    raw = torch.randint(0, 256, (rows, 2, form.bytes), dtype=torch.uint8)
    raw[:, :, 1] = 32  # the scale's high byte: about 0.01
    panels = torch.from_numpy(pack_panels(form, raw.reshape(rows, -1).numpy()))
    return BlockLinear(number, rows, panels, torch.randn(rows) if has_bias else None, 8)


@pytest.mark.parametrize(
    ("readers", "calls"), [((3,), 1), ((2, 1), 2), ((1, 1), 2), ((4,), 1), ((6,), 2)]
)
def test_layers_of_blocks_that_read_one_input_are_one_call(
    readers: tuple[int, ...], calls: int
) -> None:
    model = Projections(*readers)
    inputs = tuple(torch.randn(3, 64) for _ in readers)
    expected = model(*inputs)
    module = torch.export.export(model, inputs).module()
    result = JoinLinearsOfBlocks()(module)
    names = [op_name(node) for node in module.graph.nodes]
    assert names.count("llama.linear_of_blocks.default") == calls
    assert result.modified == (calls < sum(readers))
    for got, wanted in zip(module(*inputs), expected, strict=True):
        assert torch.equal(got, wanted)


class Layer(nn.Module):
    """What stands between matmuls in a layer, and one matmul, of blocks or of floats."""

    def __init__(self, halves: bool, of_blocks: bool) -> None:
        super().__init__()
        self.norm, self.feed = RMSNorm(64), FeedForward(64, 96)
        self.rope = Rope(ModelArgs(dim=64, n_heads=4, max_context_len=8, use_hf_rope=halves))
        self.project = _block_linear(32, False) if of_blocks else nn.Linear(64, 32)
        nn.init.normal_(self.norm.weight)

    def forward(self, x: torch.Tensor, at: torch.Tensor) -> tuple[torch.Tensor, ...]:
        heads = self.norm(x).unflatten(-1, (4, 16))
        angles = self.rope.get_freqs(at, x.shape[1])
        turned = self.rope(heads, heads[:, :, :2] * 2, *angles)
        return *turned, self.project(self.feed(x))


@pytest.mark.parametrize("halves", [False, True])
def test_what_stands_between_products_of_blocks_is_one_call_each(halves: bool) -> None:
    inputs = (torch.randn(1, 3, 64), torch.tensor([2]))
    shapes = ({1: Dim("tokens", min=2, max=6)}, None)
    for of_blocks in (True, False):
        model = Layer(halves, of_blocks)
        edge = to_edge(torch.export.export(model, inputs, dynamic_shapes=shapes))
        module = edge.exported_program().graph_module
        assert FuseRows()(module).modified == of_blocks
        names = [op_name(node) for node in module.graph.nodes]
        wanted = {"rms_norm": 1, "rotate": 2, "silu_gate": 1}
        found = {name: names.count(f"llama.{name}.default") for name in wanted}
        assert found == {name: count * of_blocks for name, count in wanted.items()}
        spelled = ("aten.rsqrt.default", "aten.cat.default", "aten.sigmoid.default")
        assert any(name in names for name in spelled) != of_blocks
        for got, wanted in zip(edge.exported_program().module()(*inputs), model(*inputs)):
            torch.testing.assert_close(got, wanted, rtol=1e-5, atol=1e-5)
