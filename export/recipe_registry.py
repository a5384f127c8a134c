# SPDX-License-Identifier: BSD-3-Clause
"""Who makes recipes for which backend. One registry per process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from executorch.export.recipe import ExportRecipe, RecipeType
    from executorch.export.recipe_provider import BackendRecipeProvider


class RecipeRegistry:
    """Providers by backend name; a later provider of the same name replaces the earlier one."""

    _instance: RecipeRegistry | None = None
    _providers: dict[str, BackendRecipeProvider]

    def __new__(cls) -> RecipeRegistry:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
            cls._instance._providers = {}
        return cls._instance

    def register_backend_recipe_provider(self, provider: BackendRecipeProvider) -> None:
        self._providers[provider.backend_name] = provider

    def create_recipe(
        self, recipe_type: RecipeType, backend: str, **kwargs: Any
    ) -> ExportRecipe | None:
        """What the backend's provider makes: None for a type of someone else's. Raises ValueError when the backend is
        not registered."""
        return self._provider(backend).create_recipe(recipe_type, **kwargs)

    def get_supported_recipes(self, backend: str) -> Sequence[RecipeType]:
        return self._provider(backend).get_supported_recipes()

    def list_backends(self) -> Sequence[str]:
        return list(self._providers)

    def _provider(self, backend: str) -> BackendRecipeProvider:
        if backend not in self._providers:
            raise ValueError(
                f"Backend {backend!r} not available. Available: {self.list_backends()}. Import the backend's recipes "
                "first"
            )
        return self._providers[backend]


recipe_registry = RecipeRegistry()
register_backend_recipe_provider = recipe_registry.register_backend_recipe_provider
