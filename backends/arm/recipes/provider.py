# SPDX-License-Identifier: BSD-3-Clause
"""Recipes of Ethos-U and VGF. Keywords are those of the compile spec: `target`, `memory_mode`, `extra_flags`, ... of
EthosUCompileSpec, `tosa_spec` and `compiler_flags` of VgfCompileSpec."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from executorch.backends.arm.common.arm_compile_spec import ArmCompileSpec
from executorch.backends.arm.ethosu import EthosUCompileSpec
from executorch.backends.arm.quantizer import (
    QuantizationConfig,
    get_symmetric_a16w8_quantization_config,
    get_symmetric_quantization_config,
)
from executorch.backends.arm.util._factory import create_partitioner, create_quantizer
from executorch.backends.arm.vgf import VgfCompileSpec
from executorch.export.recipe import (
    ExportRecipe,
    LoweringRecipe,
    QuantizationRecipe,
    RecipeType,
)
from executorch.export.recipe_provider import RecipesOfType


class EthosURecipeType(RecipeType):
    """Ethos-U computes on integers."""

    INT8 = "ethosu_int8"
    A16W8 = "ethosu_a16w8"

    @classmethod
    def get_backend_name(cls) -> str:
        return "ethosu"


class VgfRecipeType(RecipeType):
    FP32 = "vgf_fp32"
    INT8 = "vgf_int8"
    A16W8 = "vgf_a16w8"

    @classmethod
    def get_backend_name(cls) -> str:
        return "vgf"


_CONFIGS: dict[str, Callable[[], QuantizationConfig]] = {
    "INT8": get_symmetric_quantization_config,
    "A16W8": get_symmetric_a16w8_quantization_config,
}


def _ethos_u(target: str = "ethos-u55-128", **options: Any) -> EthosUCompileSpec:
    return EthosUCompileSpec(target, **options)


@dataclass(frozen=True)
class ArmRecipeProvider(RecipesOfType):
    """`make_spec`: from keywords; TypeError for what it does not know."""

    kinds: type[RecipeType]
    make_spec: Callable[..., ArmCompileSpec]

    def make(self, recipe_type: RecipeType, **options: Any) -> ExportRecipe:
        spec = self.make_spec(**options)
        config = _CONFIGS.get(recipe_type.name)
        quantizers = [create_quantizer(spec).set_global(config())] if config else []
        return ExportRecipe(
            name=recipe_type.value,
            quantization_recipe=QuantizationRecipe(quantizers) if quantizers else None,
            lowering_recipe=LoweringRecipe(partitioners=[create_partitioner(spec)]),
        )


PROVIDERS = (
    ArmRecipeProvider(EthosURecipeType, _ethos_u),
    ArmRecipeProvider(VgfRecipeType, VgfCompileSpec),
)
