# SPDX-License-Identifier: BSD-3-Clause
"""From a model and a recipe to a program: `export` runs the recipe's stages and gives the session that holds what each
stage made."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram

from executorch.exir import EdgeProgramManager, ExecutorchProgramManager
from executorch.exir._warnings import experimental
from executorch.exir.schema import Program
from executorch.export.recipe import ExportRecipe
from executorch.export.stages import (
    EdgeProgramManagerTransformStage,
    EdgeTransformAndLowerStage,
    ExecutorchStage,
    PipelineArtifact,
    QuantizeStage,
    SourceTransformStage,
    Stage,
    ToBackendStage,
    ToEdgeStage,
    TorchExportStage,
)
from executorch.export.types import StageType
from executorch.extension.export_util.utils import save_pte_program
from executorch.runtime import Runtime

Model = torch.nn.Module | ExportedProgram
Models = Model | dict[str, torch.nn.Module] | dict[str, ExportedProgram] | str
ExampleInputs = list[tuple[Any, ...]] | dict[str, list[tuple[Any, ...]]]

_MAKE_STAGE: dict[StageType, Callable[[ExportRecipe], Stage]] = {
    StageType.SOURCE_TRANSFORM: lambda r: SourceTransformStage(r.quantization_recipe),
    StageType.QUANTIZE: lambda r: QuantizeStage(r.quantization_recipe),
    StageType.TORCH_EXPORT: lambda r: TorchExportStage(r.aten_transform_passes, r.strict),
    StageType.TO_EDGE_TRANSFORM_AND_LOWER: lambda r: EdgeTransformAndLowerStage.from_recipe(
        r.lowering_recipe
    ),
    StageType.TO_EDGE: lambda r: ToEdgeStage.from_recipe(r.lowering_recipe),
    StageType.EDGE_PROGRAM_MANAGER_TRANSFORM: lambda r: (
        EdgeProgramManagerTransformStage.from_recipe(r.lowering_recipe)
    ),
    StageType.TO_BACKEND: lambda r: ToBackendStage.from_recipe(r.lowering_recipe),
    StageType.TO_EXECUTORCH: lambda r: ExecutorchStage(r.executorch_backend_config),
}
_FROM_PROGRAM = [StageType.TO_EDGE_TRANSFORM_AND_LOWER, StageType.TO_EXECUTORCH]
_FROM_MODEL = [
    StageType.SOURCE_TRANSFORM,
    StageType.QUANTIZE,
    StageType.TORCH_EXPORT,
    *_FROM_PROGRAM,
]


def export(
    model: Models,
    example_inputs: ExampleInputs | None = None,
    export_recipe: ExportRecipe | None = None,
    name: str | None = None,
    dynamic_shapes: Any = None,
    constant_methods: dict[str, Any] | None = None,
    artifact_dir: str | None = None,
    generate_etrecord: bool = False,
) -> ExportSession:
    """Runs all stages. `model`: a module, a program of torch.export, the path of a saved one, or a dict of modules or
    programs by method. Inputs and shapes are a dict by method then; otherwise they belong to "forward".
    Without a recipe the program runs on kernels."""
    session = ExportSession(
        model,
        example_inputs,
        export_recipe,
        name,
        dynamic_shapes,
        constant_methods,
        artifact_dir,
        generate_etrecord,
    )
    session.export()
    return session


@experimental("ExportSession is experimental and may change.")
class ExportSession:
    """The stages of one export and what they made. Stages may be replaced before `export` is called."""

    def __init__(
        self,
        model: Models,
        example_inputs: ExampleInputs | None = None,
        export_recipe: ExportRecipe | None = None,
        name: str | None = None,
        dynamic_shapes: Any = None,
        constant_methods: dict[str, Any] | None = None,
        artifact_dir: str | None = None,
        generate_etrecord: bool | None = False,
    ) -> None:
        recipe = export_recipe or ExportRecipe()
        several = isinstance(model, dict)
        self._models = _by_method(model)
        self._examples = _for_methods(example_inputs, several, "example_inputs")
        self._artifact_dir = artifact_dir
        is_program = [isinstance(one, ExportedProgram) for one in self._models.values()]
        if any(is_program) and not all(is_program):
            raise ValueError(
                "expected either modules or exported programs for all methods, got both"
            )
        self._order = list(
            recipe.pipeline_stages or (_FROM_PROGRAM if any(is_program) else _FROM_MODEL)
        )
        self._stages = {kind: _MAKE_STAGE[kind](recipe) for kind in self._order}
        self._artifacts: dict[StageType, PipelineArtifact] = {}
        self._context = {
            "example_inputs": self._examples,
            "dynamic_shapes": _for_methods(dynamic_shapes, several, "dynamic_shapes"),
            "constant_methods": constant_methods,
            "export_recipe": recipe,
            "session_name": name,
            "artifact_dir": artifact_dir,
            "generate_etrecord": bool(generate_etrecord),
        }

    def register_stage(self, stage_type: StageType, stage: Stage) -> None:
        """Uses `stage` wherever the pipeline has this type."""
        self._stages[stage_type] = stage

    def get_registered_stage(self, stage_type: StageType) -> Stage | None:
        return self._stages.get(stage_type)

    def get_all_registered_stages(self) -> dict[StageType, Stage]:
        return dict(self._stages)

    def export(self) -> None:
        """Runs the pipeline from its start; each artifact's context says how long its stage took."""
        _check_order(self._order, self._stages)
        self._artifacts = {}
        artifact = PipelineArtifact(self._models, dict(self._context))
        for kind in self._order:
            started = time.perf_counter()
            self._stages[kind].run(artifact)
            artifact = self._stages[kind].get_artifacts()
            artifact.add_context("duration_ms", (time.perf_counter() - started) * 1e3)
            self._artifacts[kind] = artifact

    def get_stage_artifacts(self) -> dict[StageType, PipelineArtifact]:
        return dict(self._artifacts)

    def get_exported_program(self, method_name: str = "forward") -> ExportedProgram:
        """The program as torch.export and the ATen passes left it."""
        made = self._artifacts.get(StageType.TORCH_EXPORT)
        return _lookup(made.data if made else self._models, method_name, "exported programs")

    def get_edge_program_manager(self) -> EdgeProgramManager:
        """After the last stage that made edge programs."""
        for kind in reversed(self._order):
            if kind in self._artifacts and isinstance(
                self._artifacts[kind].data, EdgeProgramManager
            ):
                return self._artifacts[kind].data
        raise RuntimeError("no edge program yet; call export() with a pipeline that makes one")

    def get_executorch_program_manager(self) -> ExecutorchProgramManager:
        if StageType.TO_EXECUTORCH not in self._artifacts:
            raise RuntimeError(
                "no program yet; call export() with a pipeline that ends in to_executorch"
            )
        return self._artifacts[StageType.TO_EXECUTORCH].data

    def get_executorch_program(self) -> Program:
        return self.get_executorch_program_manager().executorch_program

    def get_pte_buffer(self) -> bytes:
        return self.get_executorch_program_manager().buffer

    def save_to_pte(self, output_name: str) -> None:
        """Writes the program, and data files beside it, under `artifact_dir` if one was given."""
        if not output_name:
            raise ValueError("expected a file name, got an empty one")
        save_pte_program(
            self.get_executorch_program_manager(), output_name, self._artifact_dir or ""
        )

    def get_example_input(self, method_name: str = "forward") -> tuple[Any, ...]:
        return _lookup(self._examples, method_name, "example inputs")[0]

    def run_method(
        self, method_name: str = "forward", example_inputs: tuple[Any, ...] | None = None
    ) -> Sequence[Any]:
        """The method's outputs on the C++ runtime, for these inputs or the first example."""
        inputs = self.get_example_input(method_name) if example_inputs is None else example_inputs
        program = Runtime.get().load_program(self.get_pte_buffer())
        return program.load_method(method_name).execute(list(inputs))

    def print_delegation_info(self) -> None:
        """Per method: how many calls run on backends, how many on kernels."""
        info = self._last_artifact().get_context("delegation_info", {})
        if not info:
            print("no stage delegated")
        for method, counts in info.items():
            print(f"{method}\n{counts.get_summary()}")

    def get_etrecord(self) -> Any:
        if not self._context["generate_etrecord"]:
            raise RuntimeError("no ETRecord: pass generate_etrecord=True to export")
        return self.get_executorch_program_manager().get_etrecord()

    def _last_artifact(self) -> PipelineArtifact:
        if not self._artifacts:
            raise RuntimeError("nothing exported yet; call export() first")
        return list(self._artifacts.values())[-1]


def _by_method(model: Models) -> dict[str, Any]:
    if isinstance(model, str | os.PathLike):
        model = torch.export.load(model)
    models = dict(model) if isinstance(model, dict) else {"forward": model}
    for name, one in models.items():
        if not isinstance(one, torch.nn.Module | ExportedProgram):
            raise ValueError(
                f"expected a torch.nn.Module, an ExportedProgram or a path for method {name!r}, got "
                f"{type(one).__name__}"
            )
    return models


def _for_methods(given: Any, several: bool, what: str) -> dict[str, Any]:
    """By method: as given when there is a dict of models, else the only value under "forward"."""
    if given is None:
        return {}
    if several and not isinstance(given, dict):
        raise ValueError(
            f"expected {what} as a dict by method, as the models are, got {type(given).__name__}"
        )
    if several or (what == "example_inputs" and isinstance(given, dict)):
        return dict(given)
    return {"forward": given}


def _check_order(order: list[StageType], stages: dict[StageType, Stage]) -> None:
    if not order:
        raise ValueError("expected at least one stage in the pipeline, got none")
    if not stages[order[0]].can_start_pipeline:
        raise ValueError(f"stage {order[0].value} cannot start a pipeline; begin with torch_export")
    for before, kind in zip(order, order[1:], strict=False):
        allowed = stages[kind].valid_predecessor_stages
        if before not in allowed:
            raise ValueError(
                f"stage {kind.value} cannot follow {before.value}; it follows {[one.value for one in allowed]}"
            )


def _lookup(items: dict[str, Any], name: str, what: str) -> Any:
    if not items.get(name):
        raise KeyError(f"method {name!r} is not among the {what}: {sorted(items)}")
    return items[name]
