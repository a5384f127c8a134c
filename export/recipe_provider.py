# SPDX-License-Identifier: BSD-3-Clause
"""What a backend implements to offer recipes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from executorch.export.recipe import ExportRecipe, RecipeType


class BackendRecipeProvider(ABC):
    """Makes the recipes of one backend; register it with `recipe_registry`."""

    @property
    @abstractmethod
    def backend_name(self) -> str:
        """As `RecipeType.get_backend_name` gives it."""

    @abstractmethod
    def get_supported_recipes(self) -> Sequence[RecipeType]:
        """All types that `create_recipe` knows."""

    @abstractmethod
    def create_recipe(self, recipe_type: RecipeType, **kwargs: Any) -> ExportRecipe | None:
        """The recipe, or None when the type belongs to someone else."""

    def supports_recipe(self, recipe_type: RecipeType) -> bool:
        return recipe_type in self.get_supported_recipes()
