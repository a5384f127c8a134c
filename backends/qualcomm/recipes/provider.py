# SPDX-License-Identifier: BSD-3-Clause
"""The recipe of networks in half precision. Keywords: `soc_model`, which has no default, as text or QcomChipset, and
those of QnnPartitioner."""

from __future__ import annotations

from typing import Any

from executorch.backends.qualcomm.partition.qnn_partitioner import QnnPartitioner
from executorch.backends.qualcomm.serialization.compile_specs import (
    generate_htp_compiler_spec,
    generate_qnn_executorch_compiler_spec,
    get_soc_to_chipset_map,
)
from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset
from executorch.export.recipe import ExportRecipe, LoweringRecipe, RecipeType
from executorch.export.recipe_provider import RecipesOfType

QNN_BACKEND = "qnn"
_OF_PARTITIONER = ("skip_node_id_set", "skip_node_op_set", "skip_mutable_buffer")


class QNNRecipeType(RecipeType):
    """FP16: floats are computed in half precision, inputs and outputs stay float32."""

    FP16 = "qnn_fp16"

    @classmethod
    def get_backend_name(cls) -> str:
        return QNN_BACKEND


class QNNRecipeProvider(RecipesOfType):
    kinds = QNNRecipeType

    def make(
        self, recipe_type: RecipeType, soc_model: str | QcomChipset | None = None, **options: Any
    ) -> ExportRecipe:
        """ValueError without a SoC, for one that is not known, and for other keywords."""
        if unknown := sorted(options.keys() - set(_OF_PARTITIONER)):
            expected = ", ".join(("soc_model", *_OF_PARTITIONER))
            raise ValueError(
                f"recipe {recipe_type.value}: expected no keyword but {expected}, found {', '.join(unknown)}"
            )
        htp = generate_htp_compiler_spec(use_fp16=True)
        specs = generate_qnn_executorch_compiler_spec(chipset_of(soc_model), htp)
        lowering = LoweringRecipe(partitioners=[QnnPartitioner(specs, **options)])
        return ExportRecipe(name=recipe_type.value, lowering_recipe=lowering)


def chipset_of(soc_model: str | QcomChipset | None) -> QcomChipset:
    """ValueError with those that are known."""
    if isinstance(soc_model, QcomChipset):
        return soc_model
    known = get_soc_to_chipset_map()
    if soc_model not in known:
        raise ValueError(f"soc_model: expected one of {', '.join(known)}, found {soc_model}")
    return known[soc_model]
