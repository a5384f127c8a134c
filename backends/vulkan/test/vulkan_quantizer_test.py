# SPDX-License-Identifier: BSD-3-Clause
"""`VulkanQuantizer`: what it quantizes and how, and what that becomes (VK-010)."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.vulkan.aot.language_models import quantizers
from executorch.backends.vulkan.quantizer.vulkan_quantizer import (
    VulkanQuantizer,
    get_static_quantization_config,
    get_symmetric_quantization_config,
)
from executorch.backends.vulkan.test.lowered import chain, check_values, left, lower, machine

X = torch.linspace(-1, 1, 3 * 64).sin().view(3, 64)
IMAGE = torch.linspace(-1, 1, 8 * 6 * 6).sin().view(1, 8, 6, 6)


def quantized(model: nn.Module, inputs, quantizer: VulkanQuantizer) -> nn.Module:
    prepared = prepare_pt2e(torch.export.export(model.eval(), inputs).module(), quantizer)
    prepared(*inputs)
    return convert_pt2e(prepared)


def layers(last: int = 8) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 12), nn.ReLU(), nn.Linear(12, last))


def by_weights(is_dynamic: bool, bits: int) -> VulkanQuantizer:
    config = get_symmetric_quantization_config(is_dynamic=is_dynamic, weight_bits=bits)
    return VulkanQuantizer().set_global(config)


@pytest.mark.parametrize(
    ("bits", "layer"),
    [
        (8, ["aten._weight_int8pack_mm.default", "aten.add.Tensor"]),
        (4, ["et_vk.linear_q4gsw.default"]),
    ],
)
def test_weights_alone(bits: int, layer: list[str]) -> None:
    """No more calls than upstream writes for the same model, kernel and bias of each layer."""
    model = quantized(layers(), (X,), by_weights(False, bits))
    edge = check_values(model, (X,))
    assert left(edge) == [] and chain(edge) == [*layer, "aten.relu.default", *layer]


def test_weights_of_4_bits_without_a_bias() -> None:
    model = quantized(nn.Linear(64, 12, bias=False), (X,), by_weights(False, 4))
    assert chain(check_values(model, (X,))) == ["et_vk.linear_qcs4w.default"]


@pytest.mark.parametrize("bits", [8, 4])
def test_inputs_quantized_while_running(bits: int) -> None:
    """Inputs stay floats: apart by the rounding that is left out, half a step of 1/127 for each of 64 products."""
    model = quantized(nn.Linear(64, 8), (X,), by_weights(True, bits))
    edge = lower(model, (X,))
    (found,) = machine(edge).run((X,))
    weights = model.state_dict()
    (stored,) = [each for each in weights.values() if each.dtype == torch.int8]
    (scales,) = [each for name, each in weights.items() if "scale" in name]
    limit = (1 / 255) * (stored * scales.unsqueeze(1)).abs().sum(1).max()
    assert left(edge) == [] and (found - model(X)).abs().max() <= limit


def test_only_linear_layers_are_quantized_by_weights() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = nn.Conv2d(8, 8, 3, padding=1), nn.Linear(8, 4)

        def forward(self, x):
            return self.last(torch.relu(self.first(x)).permute(0, 2, 3, 1) + 2)

    for is_dynamic in (False, True):
        model = quantized(Net(), (IMAGE,), by_weights(is_dynamic, 8))
        stored = [each for each in model.state_dict().values() if each.dtype == torch.int8]
        assert [tuple(each.shape) for each in stored] == [(4, 8)]


def test_ranges_by_calibration() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.depth = nn.Conv2d(8, 8, 3), nn.Conv2d(8, 8, 3, groups=8, padding=1)
            self.last = nn.Linear(8, 4)

        def forward(self, x):
            x = torch.relu(self.first(x))
            x = torch.relu(self.depth(x) + x)
            return self.last(x.permute(0, 2, 3, 1).reshape(-1, 8))

    torch.manual_seed(0)
    quantizer = VulkanQuantizer().set_global(get_static_quantization_config())
    edge = check_values(quantized(Net(), (IMAGE,), quantizer), (IMAGE,), atol=0.02)
    names = set(chain(edge))
    assert left(edge) == [] and "aten.convolution.default" not in names
    wanted = {"q8ta_conv2d", "q8ta_conv2d_dw", "q8ta_add", "q8ta_linear"}
    assert {f"et_vk.{name}.default" for name in wanted} <= names


def test_a_filter_leaves_layers_as_they_are() -> None:
    quantizer = by_weights(False, 8).set_filter_function(
        lambda node: node.args[0].op != "placeholder"
    )
    names = chain(lower(quantized(layers(), (X,), quantizer), (X,)))
    assert names.count("aten.linear.default") == 1
    assert names.count("aten._weight_int8pack_mm.default") == 1


def test_configurations() -> None:
    config = get_symmetric_quantization_config(is_dynamic=True, weight_bits=4)
    assert (config.weight.quant_min, config.weight.quant_max) == (-8, 7)
    assert config.weight.qscheme == torch.per_channel_symmetric and config.weight.ch_axis == 0
    activation = config.input_activation
    assert activation.is_dynamic and activation.qscheme == torch.per_tensor_affine
    assert config.output_activation is None and config.bias is None
    plain = get_symmetric_quantization_config(weight_qmin=-127)
    assert plain.input_activation is None
    assert (plain.weight.quant_min, plain.weight.quant_max) == (-127, 127)
    assert plain is get_symmetric_quantization_config(weight_qmin=-127)
    with pytest.raises(AssertionError, match="weight_bits: expected 8 or 4, found 2"):
        get_symmetric_quantization_config(weight_bits=2)
    with pytest.raises(AssertionError, match="act_bits: expected 8, found 16"):
        get_symmetric_quantization_config(act_bits=16)


def test_the_name_that_language_models_have() -> None:
    (quantizer,) = quantizers("vulkan_8w")
    assert quantizer.global_config == get_symmetric_quantization_config()
    with pytest.raises(ValueError, match="expected vulkan_8w"):
        quantizers("vulkan_4w")
