# SPDX-License-Identifier: BSD-3-Clause
"""The documents' blocks on quantization run and give exact models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torchao.quantization import utils as torchao_utils
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e

from executorch.backends.xnnpack import XnnpackPartitioner, get_xnnpack_edge_compile_config
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.runtime import Runtime
from executorch.test.documents import guide
from executorch.test.documents.xnnpack_test import in_a_folder, torchvision  # noqa: F401

Names = dict[str, Any]


def block(*words: str) -> str:
    """The one block of the page with all of these words, as it runs today."""
    (code,) = [code for code in guide.today("quantization.md") if all(w in code for w in words)]
    return code


def run(buffer: bytes, *inputs: torch.Tensor) -> torch.Tensor:
    return Runtime.get().load_program(buffer).load_method("forward").execute(list(inputs))[0]


@pytest.mark.full
@pytest.mark.req("XQ-020")
def test_mobilenet_of_the_xnnpack_page() -> None:
    names = guide.run(block("MobileNet_V2_Weights"), {})
    (sample,) = names["sample_inputs"]
    found = run(names["et_program"].buffer, sample)
    wanted = names["quantized_model"](sample)
    assert torchao_utils.compute_error(wanted, found) > 10  # of its own rounding in 60 layers
    assert len(names["et_program"].buffer) < 4e6  # a quarter of the float file


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
        self.last = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.first(x))
        return self.last(F.adaptive_avg_pool2d(x + self.second(x), 1).flatten(1))


@pytest.mark.req("XQ-020")
@pytest.mark.parametrize("how", ["static", "dynamic", "aware"])
def test_the_flow_keeps_20_db_of_the_float_model(how: str) -> None:
    """Export, prepare, calibrate or train, convert, export, lower, run."""
    torch.manual_seed(0)
    model, sample = Network().eval(), torch.randn(1, 3, 16, 16)
    config = get_symmetric_quantization_config(
        is_per_channel=True, is_qat=how == "aware", is_dynamic=how == "dynamic"
    )
    prepare = prepare_qat_pt2e if how == "aware" else prepare_pt2e
    graph = prepare(
        torch.export.export(model, (sample,)).module(), XNNPACKQuantizer().set_global(config)
    )
    for _ in range(4):
        graph(torch.randn(1, 3, 16, 16))
    graph(sample)
    quantized = convert_pt2e(graph)
    exported = torch.export.export(quantized, (sample,))
    lowered = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    assert get_lowered_backend_modules(lowered.exported_program().graph_module)
    found = run(lowered.to_executorch().buffer, sample)
    assert torchao_utils.compute_error(model(sample), found) > 20
    assert torchao_utils.compute_error(quantized(sample), found) > 30


@pytest.mark.req("XQ-020", "CMP-C02")
def test_the_overview_measures_the_error() -> None:
    torch.manual_seed(0)
    sample = torch.randn(1, 3, 16, 16)
    config = get_symmetric_quantization_config(is_per_channel=True)
    names: Names = {
        "torch": torch,
        "model": Network().eval(),
        "sample_inputs": (sample,),
        "quantizer": XNNPACKQuantizer().set_global(config),
        "calibration_data": [torch.randn(1, 3, 16, 16) for _ in range(4)],
    }
    names = guide.run(block("calibration_data"), names)
    names["sample"] = sample
    assert guide.run(block("compute_error"), names)["sqnr"] > 20


class Gpt(nn.Module):
    """A small GPT."""

    def __init__(self, size: int = 32, heads: int = 2, length: int = 16) -> None:
        super().__init__()
        self.heads = heads
        self.tokens, self.places = nn.Embedding(64, size), nn.Embedding(length, size)
        self.norms = nn.ModuleList(nn.LayerNorm(size) for _ in range(2))
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.up, self.down = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)
        self.head = nn.Linear(size, 64, bias=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1]))
        parts = self.qkv(self.norms[0](x)).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q, k, v = (part.transpose(1, 2) for part in parts)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return self.head(x + self.down(F.gelu(self.up(self.norms[1](x)))))


@pytest.mark.req("XQ-006", "XQ-021")
def test_a_language_model_with_dynamic_ranges() -> None:
    torch.manual_seed(0)
    model, ids = Gpt().eval(), torch.randint(0, 64, (1, 16))
    names: Names = {"export": torch.export.export, "model": model, "example_inputs": (ids,)}
    names |= {"get_xnnpack_edge_compile_config": get_xnnpack_edge_compile_config}
    names |= {"to_edge_transform_and_lower": to_edge_transform_and_lower}
    for words in (("DuplicateDynamicQuantChainPass,",), ("fold_quantize=False",)):
        names = guide.run(block(*words), names)
    guide.run(block("import (\n    XnnpackPartitioner,\n)"), names)
    names = guide.run(block("nanogpt.pte"), names)
    program = names["edge_manager"].exported_program()
    left = " ".join(str(node.target) for node in program.graph.nodes)
    assert get_lowered_backend_modules(program.graph_module) and "linear" not in left
    found = run(Path("nanogpt.pte").read_bytes(), ids)
    assert torchao_utils.compute_error(model(ids), found) > 30


@pytest.mark.req("XQ-024", "XQ-C03", "XQ-C04")
def test_a_language_model_with_stored_embeddings_and_small_weights() -> None:
    torch.manual_seed(0)
    model, ids = Gpt().eval(), torch.randint(0, 64, (1, 16))
    guide.run(
        block("quantize_(eager_model, linear_config)"), {"torch": torch, "eager_model": model}
    )
    program = torch.export.export(model, (ids,))
    manager = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])
    names = [str(node.target) for node in manager.exported_program().graph.nodes]
    assert sum("embedding_byte" in name for name in names) == 2
    assert not any("linear" in name for name in names)
    found = run(manager.to_executorch().buffer, ids)
    assert torchao_utils.compute_error(model(ids), found) > 25
