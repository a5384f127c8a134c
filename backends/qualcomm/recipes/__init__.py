# SPDX-License-Identifier: BSD-3-Clause
"""Recipes for `executorch.export`; importing this package registers them under the name "qnn"."""

from executorch.backends.qualcomm.recipes.provider import (
    QNN_BACKEND,
    QNNRecipeProvider,
    QNNRecipeType,
)
from executorch.export.recipe_registry import recipe_registry

recipe_registry.register_backend_recipe_provider(QNNRecipeProvider())

__all__ = ["QNN_BACKEND", "QNNRecipeProvider", "QNNRecipeType"]
