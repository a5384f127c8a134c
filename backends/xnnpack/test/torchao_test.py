# SPDX-License-Identifier: BSD-3-Clause
"""Models that torchao's quantize_ changed: 4-bit and 8-bit linears become XNNPACK nodes, embeddings run as stored."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torchao.quantization.granularity import PerAxis, PerGroup
from torchao.quantization.quant_api import (
    Int8DynamicActivationInt8WeightConfig,
    Int8DynamicActivationIntxWeightConfig,
    IntxWeightOnlyConfig,
    quantize_,
)
from torchao.quantization.utils import compute_error
from torchao.utils import unwrap_tensor_subclass

from executorch.backends.xnnpack.test.quantized_test import calls, graphs, lower, run, types
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.lowered_backend_module import get_lowered_backend_modules

IDS = (torch.arange(6)[None],)


class Model(nn.Module):
    def __init__(self, tied: bool = False) -> None:
        super().__init__()
        self.embedding, self.up = nn.Embedding(16, 64), nn.Linear(64, 96)
        self.down, self.head = nn.Linear(96, 64), nn.Linear(64, 16, bias=False)
        if tied:
            self.head.weight = self.embedding.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embedding(ids)
        return self.head(x + self.down(torch.relu(self.up(x))))


def is_embedding(module: nn.Module, name: str) -> bool:
    return isinstance(module, nn.Embedding)


def quantized(weight_dtype: torch.dtype, granularity: Any, **options: bool) -> nn.Module:
    torch.manual_seed(0)
    model = Model(**options).eval()
    config = Int8DynamicActivationIntxWeightConfig(
        weight_dtype=weight_dtype, weight_granularity=granularity
    )
    quantize_(model, config)
    return model


@pytest.mark.req("XQ-024")
@pytest.mark.parametrize(
    ("weight_dtype", "granularity", "stored"),
    [
        (torch.int4, PerGroup(32), "qbint4"),
        (torch.int4, PerAxis(0), "qcint4"),
        (torch.int8, PerAxis(0), "qcint8"),
    ],
)
def test_linears_with_dynamic_inputs_are_delegated(
    weight_dtype: torch.dtype, granularity: Any, stored: str
) -> None:
    model = quantized(weight_dtype, granularity)
    manager = lower(model, IDS)
    assert calls(manager) == ["aten_embedding_default", "executorch_call_delegate"]
    (graph,) = graphs(manager)
    assert types(graph)[stored] == 3 and types(graph)["qdint8"] == 3
    assert compute_error(model(*IDS), run(manager, IDS)) > 30


@pytest.mark.parametrize("delegated", [True, False])
@pytest.mark.parametrize(
    ("weight_dtype", "granularity", "bits"),
    [
        (torch.int8, PerAxis(0), 8.5),
        (torch.int4, PerAxis(0), 4.5),
        (torch.int4, PerGroup(32), 5.5),  # with a scale of 32 bits for every 32 weights
        (torch.int2, PerGroup(32), 3.5),
    ],
)
def test_weights_alone_are_stored_as_they_are(
    weight_dtype: torch.dtype, granularity: Any, bits: float, delegated: bool
) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(256, 384), nn.ReLU(), nn.Linear(384, 256, bias=False)).eval()
    quantize_(model, IntxWeightOnlyConfig(weight_dtype=weight_dtype, granularity=granularity))
    x = (torch.randn(3, 256),)
    exported = torch.export.export(model, x)
    manager = lower(model, x) if delegated else to_edge_transform_and_lower(exported)
    weights = 256 * 384 * 2
    assert len(manager.to_executorch().buffer) < weights * bits / 8 + 10_000
    torch.testing.assert_close(run(manager, x), model(*x), rtol=1e-4, atol=1e-4)


def test_dynamic_inputs_and_four_bits_take_four_bits_without_a_backend() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(256, 384), nn.ReLU(), nn.Linear(384, 256, bias=False)).eval()
    config = Int8DynamicActivationIntxWeightConfig(
        weight_dtype=torch.int4, weight_granularity=PerGroup(32)
    )
    quantize_(model, config)
    x = (torch.randn(3, 256),)
    manager = to_edge_transform_and_lower(torch.export.export(model, x))
    assert len(manager.to_executorch().buffer) < 256 * 384 * 2 * 5.5 / 8 + 20_000
    assert compute_error(model(*x), run(manager, x)) > 40


@pytest.mark.parametrize("delegated", [True, False])
@pytest.mark.parametrize("batch", [1, 5])
def test_inputs_of_bytes_times_signed_bytes(batch: int, delegated: bool) -> None:
    """torchao writes _int_mm of them on processors without AMX."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 16, bias=False)).eval()
    quantize_(model, Int8DynamicActivationInt8WeightConfig())
    x = (torch.randn(batch, 64),)
    exported = torch.export.export(model, x)
    manager = lower(model, x) if delegated else to_edge_transform_and_lower(exported)
    torch.testing.assert_close(run(manager, x), model(*x), rtol=1e-4, atol=1e-4)


@pytest.mark.req("XQ-024")
def test_groups_of_eight_bits_stay_outside_and_exact() -> None:
    """XNNPACK has no kernel for them."""
    model = quantized(torch.int8, PerGroup(32))
    manager = lower(model, IDS)
    found = [types(graph) for graph in graphs(manager)]
    assert not any(each["qdint8"] for each in found)
    assert compute_error(model(*IDS), run(manager, IDS)) > 40


def test_unwrapped_weights_lower_alike() -> None:
    model = quantized(torch.int4, PerGroup(32))
    before = lower(model, IDS)
    after = lower(unwrap_tensor_subclass(model), IDS)
    payloads = [
        [
            module.processed_bytes
            for module in get_lowered_backend_modules(m.exported_program().graph_module)
        ]
        for m in (before, after)
    ]
    assert payloads[0] == payloads[1]


@pytest.mark.req("XQ-024")
@pytest.mark.parametrize("delegated", [True, False])
@pytest.mark.parametrize(
    ("weight_dtype", "granularity", "operator"),
    [
        (torch.int8, PerAxis(0), "embedding_byte"),
        (torch.int8, PerGroup(32), "embedding_byte"),
        (torch.int4, PerGroup(32), "embedding_4bit"),
        (torch.int2, PerGroup(32), "embedding_2bit"),
    ],
)
def test_embeddings_run_as_they_are_stored(
    weight_dtype: torch.dtype, granularity: Any, operator: str, delegated: bool
) -> None:
    torch.manual_seed(0)
    model = Model().eval()
    config = IntxWeightOnlyConfig(weight_dtype=weight_dtype, granularity=granularity)
    quantize_(model, config, is_embedding)
    if delegated:
        manager = lower(model, IDS)
        assert calls(manager)[0] == f"quantized_decomposed_{operator}_default"
    else:  # partitioners that match the pair find it
        manager = to_edge_transform_and_lower(torch.export.export(model, IDS))
        pair = ["torchao_dequantize_affine_default", "aten_embedding_default"]
        assert calls(manager)[:2] == pair
    planned = manager.to_executorch()
    assert f"quantized_decomposed_{operator}_default" in calls(planned)
    program = planned.exported_program()
    tables = [t for t in program.state_dict.values() if t.dtype in (torch.int8, torch.uint8)]
    table = max(tables, key=torch.numel)
    bits = {"embedding_byte": 8, "embedding_4bit": 4, "embedding_2bit": 2}[operator]
    assert table.numel() == 16 * 64 * bits // 8
    assert compute_error(model(*IDS), run(manager, IDS)) > 60


def test_a_table_that_a_linear_reads_too_is_not_packed() -> None:
    torch.manual_seed(0)
    model = Model(tied=True).eval()
    config = IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(32))
    quantize_(model, config, is_embedding)
    model.head.weight = model.embedding.weight
    manager = to_edge_transform_and_lower(torch.export.export(model, IDS))
    assert "quantized_decomposed_embedding_byte_default" in calls(manager.to_executorch())
    assert compute_error(model(*IDS), run(manager, IDS)) > 60
