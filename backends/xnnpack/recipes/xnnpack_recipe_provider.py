# SPDX-License-Identifier: BSD-3-Clause
"""Makes the recipes for XNNPACK: `ExportRecipe.get_recipe(XNNPackRecipeType.FP32)`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import torch

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.backends.xnnpack.recipes.xnnpack_recipe_types import XNNPackRecipeType
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig
from executorch.export.recipe import (
    AOQuantizationConfig,
    ExportRecipe,
    LoweringRecipe,
    QuantizationRecipe,
    RecipeType,
)
from executorch.export.recipe_provider import RecipesOfType

logger = logging.getLogger(__name__)

_GROUP_SIZE = 32


def _pt2e(is_per_channel: bool, is_dynamic: bool) -> QuantizationRecipe:
    config = get_symmetric_quantization_config(is_per_channel, is_dynamic=is_dynamic)
    return QuantizationRecipe(quantizers=[XNNPACKQuantizer().set_global(config)])


def _four_bits(group_size: int | None) -> QuantizationRecipe:
    from torchao.quantization import Int8DynamicActivationIntxWeightConfig
    from torchao.quantization.granularity import PerAxis, PerGroup

    granularity = PerAxis(0) if group_size is None else PerGroup(group_size)
    config = Int8DynamicActivationIntxWeightConfig(
        weight_dtype=torch.int4, weight_granularity=granularity
    )
    return QuantizationRecipe(quantizers=[], ao_quantization_configs=[AOQuantizationConfig(config)])


_Type = XNNPackRecipeType
_QUANTIZATION: dict[_Type, Callable[[int], QuantizationRecipe | None]] = {
    _Type.FP32: lambda _: None,
    _Type.PT2E_INT8_DYNAMIC_PER_CHANNEL: lambda _: _pt2e(True, is_dynamic=True),
    _Type.PT2E_INT8_STATIC_PER_CHANNEL: lambda _: _pt2e(True, is_dynamic=False),
    _Type.PT2E_INT8_STATIC_PER_TENSOR: lambda _: _pt2e(False, is_dynamic=False),
    _Type.TORCHAO_INT8_DYNAMIC_ACT_INT4_WEIGHT_PER_CHANNEL: lambda _: _four_bits(None),
    _Type.TORCHAO_INT8_DYNAMIC_ACT_INT4_WEIGHT_PER_TENSOR: _four_bits,
}
_TAKES = {_Type.TORCHAO_INT8_DYNAMIC_ACT_INT4_WEIGHT_PER_TENSOR: {"group_size"}}


class XNNPACKRecipeProvider(RecipesOfType):
    kinds = XNNPackRecipeType

    def make(self, recipe_type: RecipeType, **kwargs: Any) -> ExportRecipe:
        """ValueError for a `group_size` that is no whole number; other keywords are ignored with a warning."""
        known = _TAKES.get(recipe_type, set())
        if unexpected := sorted(kwargs.keys() - known):
            logger.warning(
                "XNNPACK recipe '%s' ignoring unexpected parameters: %s; it takes %s",
                recipe_type.value, unexpected, sorted(known) or "none",
            )  # fmt: skip
        group_size = kwargs.get("group_size", _GROUP_SIZE) if known else _GROUP_SIZE
        if not isinstance(group_size, int):
            raise ValueError(
                f"Parameter 'group_size' must be an integer, got {type(group_size).__name__}: {group_size}"
            )
        return ExportRecipe(
            name=recipe_type.value,
            quantization_recipe=_QUANTIZATION[recipe_type](group_size),
            lowering_recipe=LoweringRecipe(
                partitioners=[XnnpackPartitioner()],
                edge_compile_config=EdgeCompileConfig(_check_ir_validity=False),
            ),
            executorch_backend_config=ExecutorchBackendConfig(),
        )
