# SPDX-License-Identifier: BSD-3-Clause
"""Linear layers with weights of 4 bits that kernels of ours compute: eager PyTorch's numbers, and XNNPACK's."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torchao.quantization.granularity import PerAxis, PerGroup
from torchao.quantization.quant_api import Int8DynamicActivationIntxWeightConfig, quantize_

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.runtime.plan.own_int8_test import THEIRS, loaded, steps
from executorch.backends.xnnpack.test.needs_runtime import needs_runtime
from executorch.exir import to_edge_transform_and_lower

pytestmark = needs_runtime

OURS = ["Quantize rows (INT8)", "Matmul (INT4 by rows)"]
# Inputs and outputs of a layer, and what has a scale.
LAYERS = {
    "groups of 32": (96, 40, PerGroup(32)),
    "groups of 64": (192, 33, PerGroup(64)),
    "groups of 96": (288, 17, PerGroup(96)),
    "groups of 256": (512, 64, PerGroup(256)),
    "groups of 512": (1024, 20, PerGroup(512)),
    "channels": (160, 50, PerAxis(0)),
}


@torch.no_grad()
def with_4_bits(model: nn.Module, granularity: Any) -> nn.Module:
    made = copy.deepcopy(model).eval()
    config = Int8DynamicActivationIntxWeightConfig(
        weight_dtype=torch.int4, weight_granularity=granularity
    )
    quantize_(made, config)
    for layer in made.modules():
        if isinstance(layer, nn.Linear) and isinstance(granularity, PerGroup):
            layer.weight.scale.copy_(layer.weight.scale.bfloat16())  # as a payload has them
    return made


def lowered(model: nn.Module, inputs: tuple, shapes: Any = None) -> bytes:
    exported = torch.export.export(model, inputs, dynamic_shapes=shapes)
    lower = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    return lower.to_executorch().buffer


def distance(a: torch.Tensor, b: torch.Tensor) -> float:
    """Of the farthest row, but for one in 25, of which a number may have rounded the other way."""
    rows = ((a - b).norm(dim=-1) / b.norm(dim=-1)).flatten().sort().values
    assert float(rows[-1]) <= 1e-2
    return float(rows[-1 - len(rows) // 25])


@pytest.mark.parametrize("name", LAYERS)
@torch.no_grad()
def test_layers_have_the_numbers_of_eager_pytorch(name: str, tmp_path: Path) -> None:
    """Rows 1 to 8 take codes out of their bits as they go, more rows have them unpacked once."""
    inputs, outputs, granularity = LAYERS[name]
    torch.manual_seed(0)
    rows = torch.export.Dim("rows", min=1, max=256)
    layer = with_4_bits(nn.Linear(inputs, outputs, bias=inputs != 160), granularity)
    buffer = lowered(layer, (torch.randn(8, inputs),), ({0: rows},))
    ours, theirs = loaded(buffer), loaded(buffer, THEIRS)
    for count in (1, 3, 8, 13, 40, 200):
        x = torch.randn(count, inputs) * torch.linspace(0.1, 9, count)[:, None] + 0.2
        found = ours.execute([x])[0]
        assert distance(found, layer(x)) <= 5e-6, count
        assert distance(found, theirs.execute([x])[0]) <= 5e-6, count
    assert steps(buffer, (x,), tmp_path) == OURS


class Gate(nn.Module):
    """Three layers of one input, with elementwise work behind them and bounds."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.gate, self.down = nn.Linear(64, 96), nn.Linear(64, 96), nn.Linear(96, 64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(torch.relu(self.gate(x)) * self.up(x)).clamp(-0.2, 0.2)


@torch.no_grad()
def test_what_follows_a_layer_joins_it(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model, x = with_4_bits(Gate(), PerGroup(32)), torch.randn(2, 7, 64)
    buffer = lowered(model, (x,))
    found = loaded(buffer).execute([x])[0]
    assert distance(found, model(x)) <= 2e-3  # integers of the last layer's rows may differ by 1
    names = steps(buffer, (x,), tmp_path)
    assert {name.split(" +")[0] for name in names} == set(OURS) and len(names) == 5


@torch.no_grad()
def test_rows_that_are_no_multiple_of_32_are_xnnpacks(tmp_path: Path) -> None:
    torch.manual_seed(0)
    layer, x = with_4_bits(nn.Linear(40, 24), PerAxis(0)), torch.randn(5, 40)
    buffer = lowered(layer, (x,))
    assert distance(loaded(buffer).execute([x])[0], layer(x)) <= 5e-6
    assert not set(steps(buffer, (x,), tmp_path)) & set(OURS)


@torch.no_grad()
def test_layers_of_the_same_codes_with_other_scales_are_packed_apart() -> None:
    torch.manual_seed(0)
    first = nn.Linear(64, 32, bias=False)
    second = copy.deepcopy(first)
    second.weight.data *= 2
    model, x = with_4_bits(nn.ModuleList([first, second]), PerGroup(32)), torch.randn(3, 64)

    class Both(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = model

        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return self.layers[0](x), self.layers[1](x)

    a, b = loaded(lowered(Both().eval(), (x,))).execute([x])
    assert distance(b, 2 * a) <= 1e-6 and distance(a, model[0](x)) <= 5e-6
