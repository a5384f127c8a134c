# SPDX-License-Identifier: BSD-3-Clause
"""Recipes float and each way to quantize. Keywords: `compile_options`, those of VulkanPartitioner, and `group_size` of
weights in groups of 4 bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch

from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.backends.vulkan.quantizer.vulkan_quantizer import (
    VulkanQuantizer,
    get_static_quantization_config,
    get_symmetric_quantization_config,
)
from executorch.export.recipe import (
    AOQuantizationConfig,
    ExportRecipe,
    LoweringRecipe,
    QuantizationRecipe,
    RecipeType,
)
from executorch.export.recipe_provider import RecipesOfType

GROUP_SIZE = 32


class VulkanRecipeType(RecipeType):
    """FP16: computes in half precision, inputs and outputs stay float32. TORCHAO: groups of columns share a scale."""

    FP32 = "vulkan_fp32"
    FP16 = "vulkan_fp16"
    PT2E_INT8_WEIGHT_ONLY = "vulkan_pt2e_int8_weight_only"
    PT2E_INT8_STATIC_PER_CHANNEL = "vulkan_pt2e_int8_static_per_channel"
    TORCHAO_INT4_WEIGHT_ONLY = "vulkan_torchao_int4_weight_only"
    TORCHAO_INT8_DYNAMIC_ACT_INT4_WEIGHT = "vulkan_torchao_int8da_int4w"

    @classmethod
    def get_backend_name(cls) -> str:
        return "vulkan"


def _pt2e(make: Callable[[], Any]) -> QuantizationRecipe:
    return QuantizationRecipe(quantizers=[VulkanQuantizer().set_global(make())])


def _in_groups(is_dynamic: bool, group_size: int = GROUP_SIZE) -> QuantizationRecipe:
    from torchao.quantization import Int8DynamicActivationIntxWeightConfig, IntxWeightOnlyConfig
    from torchao.quantization.granularity import PerGroup

    groups = PerGroup(group_size)
    if is_dynamic:
        config: Any = Int8DynamicActivationIntxWeightConfig(
            weight_dtype=torch.int4, weight_granularity=groups
        )
    else:
        config = IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=groups)
    return QuantizationRecipe(quantizers=[], ao_quantization_configs=[AOQuantizationConfig(config)])


_Type = VulkanRecipeType
# What is not here stays float.
_QUANTIZATION: dict[_Type, Callable[..., QuantizationRecipe]] = {
    _Type.PT2E_INT8_WEIGHT_ONLY: partial(_pt2e, get_symmetric_quantization_config),
    _Type.PT2E_INT8_STATIC_PER_CHANNEL: partial(_pt2e, get_static_quantization_config),
    _Type.TORCHAO_INT4_WEIGHT_ONLY: partial(_in_groups, False),
    _Type.TORCHAO_INT8_DYNAMIC_ACT_INT4_WEIGHT: partial(_in_groups, True),
}
_TAKES = {
    _Type.TORCHAO_INT4_WEIGHT_ONLY: {"group_size"},
    _Type.TORCHAO_INT8_DYNAMIC_ACT_INT4_WEIGHT: {"group_size"},
}


class VulkanRecipeProvider(RecipesOfType):
    kinds = VulkanRecipeType

    def make(
        self,
        recipe_type: RecipeType,
        compile_options: Mapping[str, Any] | None = None,
        **keywords: Any,
    ) -> ExportRecipe:
        """ValueError for a keyword that the recipe does not take."""
        known = _TAKES.get(recipe_type, set())
        if unknown := sorted(keywords.keys() - known):
            expected = ", ".join(["compile_options", *sorted(known)])
            raise ValueError(
                f"recipe {recipe_type.value}: expected no keyword but {expected}, found {', '.join(unknown)}"
            )
        half = {"force_fp16": True} if recipe_type is VulkanRecipeType.FP16 else {}
        partitioner = VulkanPartitioner({**half, **(compile_options or {})})
        make = _QUANTIZATION.get(recipe_type)
        return ExportRecipe(
            name=recipe_type.value,
            quantization_recipe=make(**keywords) if make else None,
            lowering_recipe=LoweringRecipe(partitioners=[partitioner]),
        )
