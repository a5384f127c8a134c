# SPDX-License-Identifier: BSD-3-Clause
"""Quantized models of each scheme: which operator they become, and that it means what the quantized model computes
(VK-009, VK-010, VK-011)."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torchao.quantization import (
    Int8DynamicActivationIntxWeightConfig,
    IntxWeightOnlyConfig,
    quantize_,
)
from torchao.quantization.granularity import PerAxis, PerGroup
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.utils import unwrap_tensor_subclass

from executorch.backends.vulkan.test.lowered import chain, check_values, left
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)

X = torch.linspace(-1, 1, 3 * 64).sin().view(3, 64)
IMAGE = torch.linspace(-1, 1, 8 * 6 * 6).sin().view(1, 8, 6, 6)


def torchao(config) -> nn.Module:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 12), nn.Linear(12, 5)).eval()
    quantize_(model, config, lambda module, name: name == "0")
    return unwrap_tensor_subclass(model)


def check(model: nn.Module, inputs, expected: set[str], **tolerance: float) -> None:
    edge = check_values(model, inputs, **tolerance)
    assert not left(edge), left(edge)
    assert set(chain(edge)) == expected, chain(edge)


def test_weights_of_4_bits_in_groups() -> None:
    model = torchao(IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(32)))
    check(model, (X,), {"et_vk.linear_q4gsw.default", "aten.linear.default"})


def test_rows_quantized_while_running() -> None:
    config = Int8DynamicActivationIntxWeightConfig(
        weight_dtype=torch.int4, weight_granularity=PerGroup(32)
    )
    expected = {
        "torchao.choose_qparams_affine.default",
        "et_vk.linear_dq8ca_q4gsw.default",
        "aten.linear.default",
    }
    check(torchao(config), (X,), expected)


def test_near_ties_fall_to_pytorchs_step() -> None:
    """Rows of (k + 1/2) * scale: PyTorch multiplies by 1 / scale, rounded, and a quotient falls to the other step."""
    config = Int8DynamicActivationIntxWeightConfig(
        weight_dtype=torch.int4, weight_granularity=PerGroup(32)
    )
    ends = torch.tensor([127.0, -128.0]).repeat(40, 1)
    halves = torch.arange(-31, 31).repeat(40, 1) + 0.5
    scales = torch.linspace(0.01, 0.1, 40).unsqueeze(1)
    x = torch.cat([ends, halves], 1) * scales
    found = (x.amax(1, keepdim=True) - x.amin(1, keepdim=True)) / 255
    assert (torch.round(x / found) != torch.round(x * (1 / found))).any(1).sum() > 10
    check_values(torchao(config), (x,))


def test_weights_of_8_bits() -> None:
    model = torchao(IntxWeightOnlyConfig(weight_dtype=torch.int8, granularity=PerAxis(0)))
    expected = {"aten._weight_int8pack_mm.default", "aten.add.Tensor", "aten.linear.default"}
    check(model, (X,), expected)


def pt2e(model: nn.Module, inputs, quantizer) -> nn.Module:
    prepared = prepare_pt2e(torch.export.export(model.eval(), inputs).module(), quantizer)
    prepared(*inputs)
    return convert_pt2e(prepared)


def static(is_per_channel: bool = True):
    return XNNPACKQuantizer().set_global(
        get_symmetric_quantization_config(is_per_channel=is_per_channel)
    )


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.depth = (
            nn.Conv2d(8, 8, 3, padding=1),
            nn.Conv2d(8, 8, 3, groups=8, padding=1),
        )
        self.point, self.last = nn.Conv2d(8, 8, 1), nn.Linear(8, 4)

    def forward(self, x):
        x = torch.relu(self.first(x))
        x = torch.relu(self.depth(x) + x)
        return self.last(self.point(x).permute(0, 2, 3, 1).reshape(-1, 8))


@pytest.mark.req("VK-C02")
@pytest.mark.parametrize("is_per_channel", [True, False])
def test_static_8_bits(is_per_channel: bool) -> None:
    torch.manual_seed(0)
    model = pt2e(Net(), (IMAGE,), static(is_per_channel))
    edge = check_values(model, (IMAGE,), atol=0.02)
    names = set(chain(edge))
    assert not left(edge), left(edge)
    for name in ("q8ta_conv2d", "q8ta_conv2d_dw", "q8ta_conv2d_pw", "q8ta_add"):
        assert f"et_vk.{name}.default" in names, names
    assert not any("aten.convolution" in name for name in names), names


def test_tables_of_4_bits() -> None:
    table = nn.Embedding(10, 64)
    config = IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(32))
    quantize_(table, config, lambda module, name: True)
    indices = torch.tensor([[1, 9, 0]])
    check(unwrap_tensor_subclass(table), (indices,), {"et_vk.embedding_q4gsw.default"})


class Norm(nn.Module):
    def __init__(self, squares) -> None:
        super().__init__()
        self.squares, self.weight = squares, nn.Parameter(torch.linspace(0.5, 2, 64))

    def forward(self, x):
        return x * torch.rsqrt(self.squares(x).mean(-1, keepdim=True) + 1e-5) * self.weight


@pytest.mark.parametrize("squares", [lambda x: x * x, lambda x: x.pow(2)])
def test_norms_by_roots(squares) -> None:
    check(Norm(squares), (X,), {"et_vk.rms_norm.default"})
