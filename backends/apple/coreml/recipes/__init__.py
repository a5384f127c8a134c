# SPDX-License-Identifier: BSD-3-Clause
"""Recipes for `executorch.export`; importing this package registers them under the name "coreml"."""

from executorch.backends.apple.coreml.recipes.provider import (
    CoreMLRecipeProvider,
    CoreMLRecipeType,
)
from executorch.export.recipe_registry import recipe_registry

recipe_registry.register_backend_recipe_provider(CoreMLRecipeProvider())

__all__ = ["CoreMLRecipeProvider", "CoreMLRecipeType"]
