# SPDX-License-Identifier: BSD-3-Clause
"""Each recipe takes a model to a payload that computes what the model does."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from executorch.backends.vulkan.backend import BACKENDS
from executorch.backends.vulkan.recipes import VulkanRecipeType as Type
from executorch.backends.vulkan.test.lowered import chain, left, machine
from executorch.export import ExportRecipe, export


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 8))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


# Kind -> the first layer's operator, and the largest relative error: steps of 1/127 or 1/7 of the largest value of
# weights, of which they are a third on average, and of activations; 2^-11 of half precision for each of two layers.
EXPECTED = {
    Type.FP32: ("aten.linear.default", 1e-5),
    Type.FP16: ("aten.linear.default", 2 / 2**11 * 2),
    Type.PT2E_INT8_WEIGHT_ONLY: ("aten._weight_int8pack_mm.default", 3 / 127),
    Type.PT2E_INT8_STATIC_PER_CHANNEL: ("et_vk.q8ta_linear.default", 2 * 3 / 127),
    Type.TORCHAO_INT4_WEIGHT_ONLY: ("et_vk.linear_q4gsw.default", 3 / 7 / 2),
    Type.TORCHAO_INT8_DYNAMIC_ACT_INT4_WEIGHT: ("et_vk.linear_dq8ca_q4gsw.default", 3 / 7 / 2),
}


@pytest.mark.parametrize("kind", list(Type), ids=lambda kind: kind.name)
def test_a_recipe_makes_a_program(kind: Type) -> None:
    torch.manual_seed(0)
    model, inputs = Net().eval(), (torch.randn(16, 256),)
    expected = model(*inputs)
    recipe = ExportRecipe.get_recipe(kind)
    edge = export(model, [inputs], recipe).get_edge_program_manager()
    name, limit = EXPECTED[kind]
    (found,) = machine(edge).run(inputs)
    assert recipe.name == kind.value and left(edge) == []
    assert chain(edge).count(name) == 2
    assert (found - expected).norm() <= limit * expected.norm()


def test_options_and_group_sizes() -> None:
    recipe = ExportRecipe.get_recipe(
        Type.TORCHAO_INT4_WEIGHT_ONLY, group_size=64, compile_options={"force_fp16": True}
    )
    (partitioner,) = recipe.lowering_recipe.partitioners
    (config,) = recipe.quantization_recipe.ao_quantization_configs
    specs = {spec.key: spec.value for spec in partitioner.delegation_spec.compile_specs}
    assert specs == {"force_fp16": b"\x01"}
    assert config.ao_base_config.granularity.group_size == 64


def test_unknown_keywords_are_refused() -> None:
    with pytest.raises(
        ValueError, match="expected no keyword but compile_options, found group_size"
    ):
        ExportRecipe.get_recipe(Type.FP32, group_size=32)


def test_what_quantize_means() -> None:
    (manifest,) = BACKENDS
    assert set(manifest.recipe_of.values()) <= {kind.name for kind in Type}
