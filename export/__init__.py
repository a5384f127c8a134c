# SPDX-License-Identifier: BSD-3-Clause
"""From a model and a recipe to a program in one call: `executorch.export(...)`, or `export` from this package."""

if __name__ == "export":
    from executorch import _alias

    _alias.install("export")
else:
    import sys
    from types import ModuleType
    from typing import Any

    from executorch.export.export import ExportSession, export
    from executorch.export.recipe import (
        AOQuantizationConfig,
        ExportRecipe,
        LoweringRecipe,
        QuantizationRecipe,
        RecipeType,
    )
    from executorch.export.recipe_provider import BackendRecipeProvider
    from executorch.export.recipe_registry import recipe_registry
    from executorch.export.types import Arguments, StageType

    __all__ = [
        "AOQuantizationConfig",
        "Arguments",
        "BackendRecipeProvider",
        "ExportRecipe",
        "ExportSession",
        "LoweringRecipe",
        "QuantizationRecipe",
        "RecipeType",
        "StageType",
        "export",
        "recipe_registry",
    ]

    class _CallablePackage(ModuleType):
        """The documents call the package itself."""

        def __call__(self, *args: Any, **kwargs: Any) -> ExportSession:
            return export(*args, **kwargs)

    sys.modules[__name__].__class__ = _CallablePackage
