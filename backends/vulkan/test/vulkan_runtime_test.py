# SPDX-License-Identifier: BSD-3-Clause
"""Models run on a device, a software driver at least, as eager does (VK-001, VK-004, VK-012, VK-019)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim

from executorch.backends.vulkan.test.lowered import lower
from executorch.backends.vulkan.test.vulkan_attention_test import Layers
from executorch.devtools import Inspector
from executorch.examples.models import MODEL_NAME_TO_MODEL
from executorch.examples.models.model_factory import EagerModelFactory
from executorch.runtime import Runtime

AVAILABLE = Runtime.get().backend_registry.is_available("VulkanBackend")
pytestmark = pytest.mark.skipif(
    not AVAILABLE, reason="this build has no Vulkan backend, or no device is here"
)

HALF = {"force_fp16": True}


def method(model: nn.Module, inputs: tuple[Any, ...], *options: Any) -> Any:
    torch.manual_seed(0)
    return (
        Runtime.get()
        .load_program(lower(model, inputs, *options).to_executorch().buffer)
        .load_method("forward")
    )


def agrees(
    model: nn.Module, inputs: tuple[Any, ...], options: dict[str, Any] | None = None
) -> None:
    """Three times the same, bit by bit, and eager's."""
    loaded = method(model, inputs, options)
    with torch.no_grad():
        expected = model.eval()(*inputs)
    expected = expected if isinstance(expected, tuple) else (expected,)
    first = [out.clone() for out in loaded.execute(list(inputs))]
    for _ in range(2):
        assert all(
            torch.equal(one, other)
            for one, other in zip(first, loaded.execute(list(inputs)), strict=True)
        )
    tolerance = {"atol": 2e-2, "rtol": 1e-1} if options == HALF else {"atol": 2e-4, "rtol": 1e-3}
    for found, wanted in zip(first, expected, strict=True):
        torch.testing.assert_close(found, wanted, **tolerance)


class Vit(nn.Module):
    """Patches, a token for the class, and two layers of a transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 32, 8, 8)
        self.token, self.places = (
            nn.Parameter(torch.randn(1, 1, 32)),
            nn.Parameter(torch.randn(1, 17, 32)),
        )
        layer = nn.TransformerEncoderLayer(
            32, 4, 64, batch_first=True, norm_first=True, activation="gelu"
        )
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(32, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        found = self.patches(images).flatten(2).transpose(1, 2)
        found = torch.cat([self.token.expand(found.shape[0], -1, -1), found], 1) + self.places
        return self.head(self.layers(found)[:, 0])


@pytest.mark.req("VK-001")
@pytest.mark.parametrize("options", [None, HALF], ids=["float", "half"])
def test_a_vision_transformer(options: dict[str, Any] | None) -> None:
    agrees(Vit(), (torch.randn(1, 3, 32, 32),), options)


@pytest.mark.req("VK-001")
def test_mobilenet() -> None:
    assert "mv2" in MODEL_NAME_TO_MODEL
    model, inputs, _, _ = EagerModelFactory.create_model(*MODEL_NAME_TO_MODEL["mv2_untrained"])
    agrees(model, tuple(inputs))


@pytest.mark.req("VK-012")
def test_sizes_that_change() -> None:
    class Halves(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cat([x[:, : x.shape[1] // 2] * 2, x], 1).softmax(-1)

    size = 2 * Dim("half", min=1, max=16)
    loaded = method(
        Halves(), (torch.randn(1, 8, 8),), {"require_dynamic_shapes": True}, ({1: size},)
    )
    for count in (8, 32, 2, 32):
        x = torch.randn(1, count, 8)
        torch.testing.assert_close(loaded.execute([x])[0], Halves()(x))


@pytest.mark.req("VK-018")
def test_every_shader_has_an_event(tmp_path: Path) -> None:
    """Its operator, the bytes of its tensors, its time on the device in each run, inside of the delegate's."""
    x = torch.randn(2, 8)
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Softmax(-1))
    buffer = lower(model, (x,)).to_executorch().buffer
    program = Runtime.get().load_program(buffer, enable_etdump=True)
    loaded = program.load_method("forward")
    for _ in range(3):
        loaded.execute([x])
    path = tmp_path / "run.etdp"
    program.write_etdump_result_to_file(str(path), None)
    blocks = Inspector(etdump_path=str(path)).event_blocks
    (events,) = (
        each.events for each in blocks if each.name == "Execute"
    )  # the first run is as others
    times = {each.name: each.perf_data.raw for each in events if each.is_delegated_op}
    assert {len(each) for each in times.values()} == {3}
    records = {name: json.loads(name) for name in times if name[0] == "{"}
    assert {each["kernel_name"] for each in records.values()} == {"matmul", "unary", "softmax"}
    (relu,) = (each for each in records.values() if each["operator"]["name"] == "aten.relu.default")
    assert relu["bytes"] == 2 * x.numel() * x.element_size()
    for run in range(3):
        shaders = sum(times[name][run] for name in records)
        assert 0 < shaders <= times["ETVK_COMPUTE_GRAPH_EXECUTE"][run] <= times["ETVK_EXECUTE"][run]


@pytest.mark.req("VK-019")
def test_attention_keeps_its_caches() -> None:
    model, x = Layers().eval(), torch.randn(1, 9, 32)
    rows = {"x": {1: Dim("rows", min=1, max=16)}, "pos": None}
    loaded = method(model, (x[:, :3], torch.tensor([0])), None, rows)
    for start, end in ((0, 3), (3, 6), (6, 7), (7, 9)):
        inputs = [x[:, start:end].contiguous(), torch.tensor([start])]
        torch.testing.assert_close(loaded.execute(inputs)[0], model(*inputs), atol=1e-5, rtol=1e-4)


FEW_BITS = {"qmode": "8da4w", "group_size": 32, "embedding_quantize": "4,32"}


@pytest.mark.req("VK-019", "LLM-017")
@pytest.mark.parametrize(
    "quantization",
    [pytest.param({}, id="float"), pytest.param(FEW_BITS, id="8da4w", marks=pytest.mark.full)],
)
def test_a_small_llama(quantization: dict[str, Any], tmp_path: Path) -> None:
    """Its logits are those of the file without a backend, prompt first, then token by token; and so is the text that
    the runner of language models writes."""
    from executorch.extension.llm.runner import GenerationConfig, TextLLMRunner
    from executorch.extension.llm.runner.test import tiny_llama

    llama = tiny_llama.make(tmp_path)
    lengths = {"max_seq_length": 64, "max_context_length": 64}
    methods, answers = [], []
    for enabled in (True, False):
        given = {
            "base": {"model_class": "llama3_2", "checkpoint": str(tmp_path)},
            "model": {"use_kv_cache": True, "use_sdpa_with_kv_cache": True},
            "backend": {"vulkan": {"enabled": enabled}},
            "quantization": quantization,
            "export": {**lengths, "output_name": str(tmp_path / f"{enabled}.pte")},
        }
        path = tiny_llama.export_llama(tiny_llama.build(given))
        methods.append(Runtime.get().load_program(Path(path)).load_method("forward"))
        runner = TextLLMRunner(Path(path), llama.tokenizer)
        config = GenerationConfig(max_new_tokens=24, temperature=0.0, echo=False)
        pieces: list[str] = []
        runner.generate(tiny_llama.TEXTS[0], config, pieces.append)
        answers.append(pieces)
    for start, tokens in ((0, [1, 5, 9, 2]), (4, [7]), (5, [3]), (6, [8])):
        inputs = [torch.tensor([tokens]), torch.tensor([start])]
        found, expected = (each.execute(inputs)[0] for each in methods)
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-3)
    assert answers[0] == answers[1] and len(answers[0]) > 8
