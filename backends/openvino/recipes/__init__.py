# SPDX-License-Identifier: BSD-3-Clause
"""Recipes for `executorch.export`; importing this package registers them under the name "openvino"."""

from executorch.backends.openvino.recipes.provider import (
    OpenvinoRecipeProvider,
    OpenvinoRecipeType,
)
from executorch.export.recipe_registry import recipe_registry

recipe_registry.register_backend_recipe_provider(OpenvinoRecipeProvider())

__all__ = ["OpenvinoRecipeProvider", "OpenvinoRecipeType"]
