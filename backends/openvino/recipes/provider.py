# SPDX-License-Identifier: BSD-3-Clause
"""Recipes of OpenVINO: float, and each mode of quantization. Keywords: `device`, and those of OpenVINOQuantizer
(`group_size`, `ignored_scope`, ...)."""

from __future__ import annotations

from typing import Any

from executorch.backends.openvino.partitioner import OpenvinoPartitioner
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.export.recipe import (
    ExportRecipe,
    LoweringRecipe,
    QuantizationRecipe,
    RecipeType,
)
from executorch.export.recipe_provider import RecipesOfType


class OpenvinoRecipeType(RecipeType):
    """Float, and a recipe of each QuantizationMode under its name."""

    FP32 = "openvino_fp32"
    INT8_SYM = "openvino_int8_sym"
    INT8_MIXED = "openvino_int8_mixed"
    INT8_TRANSFORMER = "openvino_int8_transformer"
    INT8WO_SYM = "openvino_int8wo_sym"
    INT8WO_ASYM = "openvino_int8wo_asym"
    INT4WO_SYM = "openvino_int4wo_sym"
    INT4WO_ASYM = "openvino_int4wo_asym"

    @classmethod
    def get_backend_name(cls) -> str:
        return "openvino"


class OpenvinoRecipeProvider(RecipesOfType):
    kinds = OpenvinoRecipeType

    def make(self, recipe_type: RecipeType, device: str = "CPU", **options: Any) -> ExportRecipe:
        """ValueError for a keyword that nothing takes; NNCF's errors for those that it does not."""
        partitioner = OpenvinoPartitioner([CompileSpec("device", device.encode())])
        return ExportRecipe(
            name=recipe_type.value,
            quantization_recipe=_quantization(recipe_type, options),
            lowering_recipe=LoweringRecipe(partitioners=[partitioner]),
        )


def _quantization(kind: OpenvinoRecipeType, options: dict[str, Any]) -> QuantizationRecipe | None:
    if kind is OpenvinoRecipeType.FP32:
        if options:
            raise ValueError(
                f"recipe {kind.value}: expected no keyword but device, found {', '.join(sorted(options))}"
            )
        return None
    from executorch.backends.openvino.quantizer import OpenVINOQuantizer, QuantizationMode

    return QuantizationRecipe([OpenVINOQuantizer(mode=QuantizationMode[kind.name], **options)])
