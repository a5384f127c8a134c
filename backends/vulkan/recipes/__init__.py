# SPDX-License-Identifier: BSD-3-Clause
"""Recipes for `executorch.export`; importing this package registers them under the name "vulkan"."""

from executorch.backends.vulkan.recipes.provider import VulkanRecipeProvider, VulkanRecipeType
from executorch.export.recipe_registry import recipe_registry

recipe_registry.register_backend_recipe_provider(VulkanRecipeProvider())

__all__ = ["VulkanRecipeProvider", "VulkanRecipeType"]
