# SPDX-License-Identifier: BSD-3-Clause
"""Each recipe takes a model whole to its backend."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from executorch.backends.arm.arm_vela import VELA
from executorch.backends.arm.recipes import EthosURecipeType, VgfRecipeType
from executorch.backends.arm.test.arm_operators_test import is_fully_delegated
from executorch.backends.arm.test.arm_reference import delegates
from executorch.backends.arm.vgf.model_converter import CONVERTER
from executorch.export import ExportRecipe, RecipeType, export

MISSING = VELA.why_missing() or CONVERTER.why_missing()
IDS = {EthosURecipeType: "EthosUBackend", VgfRecipeType: "VgfBackend"}
KINDS = [kind for types in IDS for kind in types]


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.value)
def test_a_recipe_makes_a_program(kind: RecipeType) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(288, 4)).eval()
    recipe = ExportRecipe.get_recipe(kind)
    edge = export(model, [(torch.randn(1, 3, 8, 8),)], recipe).get_edge_program_manager()
    assert recipe.name == kind.value and is_fully_delegated(edge)
    assert [each.backend_id for each in delegates(edge)] == [IDS[type(kind)]]


def test_keywords_are_those_of_the_compile_spec() -> None:
    recipe = ExportRecipe.get_recipe(
        EthosURecipeType.INT8, target="ethos-u85-256", memory_mode="Shared_Sram"
    )
    (partitioner,) = recipe.lowering_recipe.partitioners
    specs = {spec.key: spec.value for spec in partitioner.delegation_spec.compile_specs}
    assert specs["target"] == b"ethos-u85-256" and b"Shared_Sram" in specs["compile_flags"]
    with pytest.raises(TypeError, match="device"):
        ExportRecipe.get_recipe(VgfRecipeType.FP32, device="CPU")
