# SPDX-License-Identifier: BSD-3-Clause
"""Each call of a quantized network gives on a device what PyTorch gives for the same arguments (VK-009, VK-011); what
the whole gives differs by sums in another order, which fall to another step near ties."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torchao.quantization import Int8DynamicActivationIntxWeightConfig, quantize_
from torchao.quantization.granularity import PerGroup
from torchao.utils import unwrap_tensor_subclass

from executorch.backends.vulkan.test.device_calls import in_eager, on_device, other_steps
from executorch.backends.vulkan.test.lowered import lower
from executorch.runtime import Runtime

pytestmark = pytest.mark.skipif(
    not Runtime.get().backend_registry.is_available("VulkanBackend"),
    reason="this build has no Vulkan backend, or no device is here",
)
# Of float32 sums over 1,536 columns: rounding by 2^-24, which adds up as the root of their number. One step of a
# row is 1 / 255 of its range, and more than 1e-4 of a result.
LIMIT = 5e-6
TOKENS = [1, 253, 4071, 3, 9, 28]


def dynamic(width: int) -> nn.Module:
    torch.manual_seed(0)
    layers = [nn.Linear(width, width), nn.LayerNorm(width), nn.Sigmoid(), nn.Linear(width, width)]
    model = nn.Sequential(*layers).eval()
    config = Int8DynamicActivationIntxWeightConfig(
        weight_dtype=torch.int4, weight_granularity=PerGroup(32)
    )
    quantize_(model, config)
    return unwrap_tensor_subclass(model)


@pytest.mark.req("VK-009", "VK-011")
def test_of_a_small_network() -> None:
    x = (torch.randn(8, 64),)
    file = bytes(lower(dynamic(64), x).to_executorch().buffer)
    found = on_device(file, x).beside
    assert {each.name for each in found} >= {"et_vk.linear_dq8ca_q4gsw.default", "aten.sigmoid.default"}  # fmt: skip
    assert [each for each in found if each.error > LIMIT] == []


def test_a_near_tie_is_found() -> None:
    """Steps of 1 / 255 of rows from 0 to 255: 7.5 falls to 8, a little less to 7."""
    row = torch.zeros(1, 64)
    row[0, 0], row[0, 1] = 255.0, 7.5
    file = bytes(lower(dynamic(64), (row,)).to_executorch().buffer)
    less = row.clone()
    less[0, 1] -= 1e-5
    found, expected = in_eager(file, (row,)), in_eager(file, (less,))
    found.quantized, expected.quantized = found.quantized[:1], expected.quantized[:1]
    steps = other_steps(found, expected)
    assert (steps.count, steps.others, steps.first) == (64, 1, 1)
    assert steps.quotients == pytest.approx((7.5, 7.49999))


@pytest.mark.full
@pytest.mark.req("VK-009", "VK-019")
def test_of_smollm2(program_store: Any) -> None:
    """30 layers of real weights: every call is right, and eager with exact sums is as far from eager."""
    from executorch.backends.vulkan.test.vulkan_smollm2 import FEW_BITS, export

    def make(folder: Path) -> None:
        export(folder, "vulkan", len(TOKENS), FEW_BITS)

    file = (program_store.folder("SmolLM2 for Vulkan", make) / "vulkan.pte").read_bytes()
    inputs = [torch.tensor([TOKENS]), torch.tensor([0])]
    device = on_device(file, inputs)
    assert len(device.beside) > 500
    assert [each for each in device.beside if each.error > LIMIT] == []
    eager = in_eager(file, inputs)
    for other in (device, in_eager(file, inputs, exact=True)):
        steps = other_steps(other, eager)
        assert steps.others > 0 and steps.first == 1, steps
        assert [abs(each) % 1 for each in steps.quotients] == pytest.approx([0.5, 0.5], abs=1e-3)
