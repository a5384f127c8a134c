# SPDX-License-Identifier: BSD-3-Clause
"""What a recipe says about each stage between a model and its program."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from enum import Enum, EnumMeta
from typing import Any, TypeVar

import torch
from torch.export import ExportedProgram

from executorch.exir import EdgeCompileConfig, EdgeProgramManager, ExecutorchBackendConfig
from executorch.exir._warnings import experimental
from executorch.exir.backend.partitioner import Partitioner
from executorch.exir.pass_manager import PassManager
from executorch.exir.pass_manager import PassType as PassType
from executorch.export.recipe_registry import recipe_registry
from executorch.export.types import StageType

Passes = list[Any] | PassManager
T = TypeVar("T")


class RecipeTypeMeta(EnumMeta, ABCMeta):
    """Lets an enum have abstract methods."""


class RecipeType(Enum, metaclass=RecipeTypeMeta):
    """Base of each backend's enum of recipes; a member's value is its description or name."""

    @classmethod
    @abstractmethod
    def get_backend_name(cls) -> str:
        """The backend whose provider makes these recipes."""


class Mode(str, Enum):
    DEBUG = "debug"
    RELEASE = "release"


@dataclass
class AOQuantizationConfig:
    """One call of torchao's `quantize_` on the source model."""

    ao_base_config: Any
    filter_fn: Callable[[torch.nn.Module, str], bool] | None = None


@dataclass
class QuantizationRecipe:
    """`ao_quantization_configs` change the source model; `quantizers` then quantize the captured graph."""

    quantizers: list[Any] | None = None
    ao_quantization_configs: list[AOQuantizationConfig] | None = None

    def get_quantizers(self) -> list[Any] | None:
        return self.quantizers


@dataclass
class LoweringRecipe:
    """How the captured program becomes an edge program and who takes parts of it."""

    partitioners: list[Partitioner] | None = None
    edge_transform_passes: list[Callable[[str, ExportedProgram], Passes]] | None = None
    edge_manager_transform_passes: list[Callable[[EdgeProgramManager], Passes]] | None = None
    edge_compile_config: EdgeCompileConfig | None = None


@experimental("ExportRecipe is experimental and may change.")
@dataclass
class ExportRecipe:
    """Everything `executorch.export` needs besides the model. An empty recipe gives a program that runs on kernels.

    `strict` goes to torch.export, in the stage that quantizes, too; `pipeline_stages` replaces the usual order of
    stages. `mode` DEBUG keeps an ETRecord and writes the Python lines of instructions into the program.
    """

    name: str | None = None
    quantization_recipe: QuantizationRecipe | None = None
    aten_transform_passes: list[Callable[[str, ExportedProgram], ExportedProgram]] | None = None
    lowering_recipe: LoweringRecipe | None = None
    executorch_backend_config: ExecutorchBackendConfig | None = None
    pipeline_stages: list[StageType] | None = None
    mode: Mode = Mode.RELEASE
    strict: bool = True

    @classmethod
    def get_recipe(cls, recipe: RecipeType, **kwargs: Any) -> ExportRecipe:
        """The recipe that a backend offers under this type; `kwargs` go to the backend's provider. Raises ValueError
        when the backend is not registered or does not make this recipe."""
        if not isinstance(recipe, RecipeType):
            raise ValueError(f"Invalid recipe type: {recipe!r}; expected a member of a RecipeType")
        backend = recipe.get_backend_name()
        made = recipe_registry.create_recipe(recipe, backend, **kwargs)
        if made is None:
            supported = [one.value for one in recipe_registry.get_supported_recipes(backend)]
            raise ValueError(
                f"Recipe {recipe.value!r} not supported by {backend!r}. Supported: {supported}"
            )
        return made

    @classmethod
    def combine(cls, recipes: list[ExportRecipe], recipe_name: str | None = None) -> ExportRecipe:
        """One recipe for several backends: lists are joined, in order of priority; a setting that two recipes give
        differently is an error."""
        if not recipes:
            raise ValueError("Recipes cannot be empty: expected at least one to combine")
        if len(recipes) == 1:
            return recipes[0]
        lowering = _present(recipes, "lowering_recipe")
        quantization = _present(recipes, "quantization_recipe")
        return cls(
            name=recipe_name or "_".join(_present(recipes, "name")) or None,
            quantization_recipe=_joined(QuantizationRecipe, quantization),
            aten_transform_passes=_concatenated(recipes, "aten_transform_passes"),
            lowering_recipe=_joined(LoweringRecipe, lowering),
            executorch_backend_config=_agreed(recipes, "executorch_backend_config"),
            pipeline_stages=_agreed(recipes, "pipeline_stages"),
            mode=_agreed(recipes, "mode"),
            strict=_agreed(recipes, "strict"),
        )


def _present(parts: Iterable[Any], name: str) -> list[Any]:
    return [value for part in parts if (value := getattr(part, name)) is not None]


def _concatenated(parts: Iterable[Any], name: str) -> list[Any] | None:
    return [item for value in _present(parts, name) for item in value] or None


def _agreed(parts: Iterable[Any], name: str) -> Any:
    values = _present(parts, name)
    if any(value != values[0] for value in values):
        raise ValueError(
            f"the recipes disagree on {name}: {values}; make them equal or set it in one of them only"
        )
    return values[0] if values else None


def _joined(kind: type[T], parts: list[T]) -> T | None:
    """Lists one after the other; `edge_compile_config` must agree."""
    if not parts:
        return None
    agreed = {"edge_compile_config"}
    return kind(
        **{
            field.name: (_agreed if field.name in agreed else _concatenated)(parts, field.name)
            for field in fields(kind)  # type: ignore[arg-type]
        }
    )
