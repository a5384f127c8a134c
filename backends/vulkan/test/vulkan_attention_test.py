# SPDX-License-Identifier: BSD-3-Clause
"""Attention with caches that stay from call to call is one operator, which keeps them (VK-019)."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn
from torch.export import Dim

from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.backends.vulkan.test.lowered import (
    chain,
    delegates,
    left,
    lower,
    machine,
    payloads,
)
from executorch.backends.vulkan.test.reference import graph_of
from executorch.exir import to_edge
from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401  defines llama


def names_of(payload: bytes) -> list[str]:
    return [call.name for call in graph_of(payload).chain]


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = nn.Linear(32, 32), nn.Linear(32, 16), nn.Linear(32, 16)
        for name in ("k_cache", "v_cache"):
            self.register_buffer(name, torch.zeros(1, 16, 2, 8))

    def forward(self, x, start):
        q, k, v = (each(x) for each in (self.q, self.k, self.v))
        q, k, v = q.view(1, -1, 4, 8), k.view(1, -1, 2, 8), v.view(1, -1, 2, 8)
        torch.ops.llama.update_cache(k, self.k_cache, start)
        torch.ops.llama.update_cache(v, self.v_cache, start)
        found = torch.ops.llama.custom_sdpa(
            q, self.k_cache, self.v_cache, start, None, 0.0, True, None
        )
        return found.reshape(1, -1, 32)


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = Layer(), Layer()

    def forward(self, x, pos):
        start = pos[0].item()
        torch._check(start >= 0)
        torch._check(start < 16)
        return self.second(self.first(x, start), start)


def test_attention_keeps_its_caches() -> None:
    torch.manual_seed(0)
    model, x = Layers().eval(), torch.randn(1, 9, 32)
    rows = {"x": {1: Dim("rows", min=1, max=16)}, "pos": None}
    edge = lower(model, (x[:, :3], torch.tensor([0])), dynamic_shapes=rows)
    assert not left(edge) and len(delegates(edge)) == 1, left(edge)
    names = chain(edge)
    assert names.count("sdpa_with_kv_cache.default") == 2
    assert names.count("et_vk.select_as_symint.default") == 1
    loaded = machine(edge)
    assert len(loaded.graph.output_ids) == 1
    sizes = {each: loaded.graph.values[each].value.dims for each in loaded.graph.input_ids}
    (position,) = (each for each, dims in sizes.items() if len(dims) == 1)
    for start, end in ((0, 3), (3, 6), (6, 7), (7, 9)):
        pos = torch.tensor([start])
        found = loaded.run(
            [pos if each == position else x[:, start:end] for each in loaded.graph.input_ids]
        )
        torch.testing.assert_close(found[0], model(x[:, start:end], pos))


class Attention(nn.Module):
    """One call with caches of `batch`, which `updates` of 2 are written for it, at a position of its own."""

    def __init__(
        self, batch: int = 1, updates: int = 2, causal: bool = True, scale: float | None = None
    ) -> None:
        super().__init__()
        self.updates, self.causal, self.scale = updates, causal, scale
        for name in ("k_cache", "v_cache"):
            self.register_buffer(name, torch.zeros(batch, 16, 2, 8))

    def forward(self, x, pos):
        start = self.position(pos)
        torch._check(start >= 0)
        torch._check(start < 16)
        for cache in (self.k_cache, self.v_cache)[: self.updates]:
            torch.ops.llama.update_cache(x[:, :, :2], cache, start)
        caches = (self.k_cache, self.v_cache)
        return torch.ops.llama.custom_sdpa(x, *caches, start, None, 0.0, self.causal, self.scale)

    def position(self, pos):
        return pos[0].item()


class Computed(Attention):
    def position(self, pos):
        return (pos + 1)[0].item()


@pytest.mark.parametrize(
    ("model", "operator", "reason"),
    [
        (Attention(batch=2), "custom_sdpa", "a batch of one is expected"),
        (Attention(updates=1), "custom_sdpa", "two caches that are written for this call alone are expected"),
        (Attention(causal=False), "custom_sdpa", "causal attention without mask, scale and dropout is expected"),
        (Attention(scale=0.3), "custom_sdpa", "causal attention without mask, scale and dropout is expected"),
        (Computed(), "_local_scalar_dense", "an element of an input is expected"),
    ],
)  # fmt: skip
def test_attention_that_stays_outside(model: nn.Module, operator: str, reason: str) -> None:
    batch = model.k_cache.shape[0]
    inputs = (torch.randn(batch, 3, 4, 8), torch.tensor([2]))
    program = to_edge(torch.export.export(model, inputs)).exported_program()
    found = VulkanPartitioner().why_not_delegated(program)
    reasons = {why for node, why in found.items() if operator in str(node.target)}
    assert reasons == {reason}, found


def test_partitioner_of_language_models() -> None:
    """LLM-017."""
    from executorch.extension.llm.export.partitioner_lib import get_vulkan_partitioner

    made = get_vulkan_partitioner("fp32", enable_dynamic_shape=True, force_fp16=True)
    assert made.options == {"require_dynamic_shapes": True, "force_fp16": True}
    with pytest.raises(AssertionError, match="expected fp32, found fp16"):
        get_vulkan_partitioner("fp16")


def test_a_small_llama_is_exported(tmp_path: Path) -> None:
    """LLM-017: `backend.vulkan.enabled`; the attention of every layer keeps its caches."""
    from executorch.extension.llm.runner.test import tiny_llama

    tiny_llama.make(tmp_path)
    lengths = {"max_seq_length": 64, "max_context_length": 64}
    given = {
        "base": {"model_class": "llama3_2", "checkpoint": str(tmp_path)},
        "model": {"use_kv_cache": True, "use_sdpa_with_kv_cache": True},
        "backend": {"vulkan": {"enabled": True}},
        "export": {**lengths, "output_name": str(tmp_path / "vulkan.pte")},
    }
    path = tiny_llama.export_llama(tiny_llama.build(given))
    names = [name for payload in payloads(Path(path).read_bytes()) for name in names_of(payload)]
    assert names.count("sdpa_with_kv_cache.default") == 2, names
    assert names.count("et_vk.apply_rotary_emb.default") == 2
    assert "et_vk.rms_norm.default" in names
