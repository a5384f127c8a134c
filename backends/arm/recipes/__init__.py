# SPDX-License-Identifier: BSD-3-Clause
"""Recipes for `executorch.export`; importing this package registers them under the names "ethosu" and "vgf"."""

from executorch.backends.arm.recipes.provider import (
    PROVIDERS,
    ArmRecipeProvider,
    EthosURecipeType,
    VgfRecipeType,
)
from executorch.export.recipe_registry import recipe_registry

for _provider in PROVIDERS:
    recipe_registry.register_backend_recipe_provider(_provider)

__all__ = ["ArmRecipeProvider", "EthosURecipeType", "VgfRecipeType"]
