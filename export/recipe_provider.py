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


class RecipesOfType(BackendRecipeProvider):
    """All members of one enum, and nothing else; `kinds` is that enum."""

    kinds: type[RecipeType]

    @property
    def backend_name(self) -> str:
        return self.kinds.get_backend_name()

    def get_supported_recipes(self) -> Sequence[RecipeType]:
        return list(self.kinds)

    def create_recipe(self, recipe_type: RecipeType, **kwargs: Any) -> ExportRecipe | None:
        return self.make(recipe_type, **kwargs) if isinstance(recipe_type, self.kinds) else None

    @abstractmethod
    def make(self, recipe_type: RecipeType, **kwargs: Any) -> ExportRecipe:
        """The recipe of a member of `kinds`."""
