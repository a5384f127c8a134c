# SPDX-License-Identifier: BSD-3-Clause
"""From a model and a recipe to a program: `export` runs the recipe's stages and gives the session that holds what each
stage made."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch.export import ExportedProgram

from executorch.devtools.backend_debug import get_delegation_info
from executorch.exir import EdgeProgramManager, ExecutorchBackendConfig, ExecutorchProgramManager
from executorch.exir._warnings import experimental
from executorch.exir.schema import Program
from executorch.export.recipe import ExportRecipe, Mode
from executorch.export.stages import (
    EdgeProgramManagerTransformStage,
    EdgeTransformAndLowerStage,
    ExecutorchStage,
    PipelineArtifact,
    ProcessStage,
    QuantizeStage,
    SourceTransformStage,
    Stage,
    ToBackendStage,
    ToEdgeStage,
    TorchExportStage,
)
from executorch.export.types import StageType
from executorch.extension.export_util.utils import save_pte_program
from executorch.extension.processing.steps import Processing
from executorch.runtime import Runtime

Model = torch.nn.Module | ExportedProgram
Models = Model | dict[str, torch.nn.Module] | dict[str, ExportedProgram] | str
ExampleInputs = list[tuple[Any, ...]] | dict[str, list[tuple[Any, ...]]]

_MAKE_STAGE: dict[StageType, Callable[[ExportRecipe], Stage]] = {
    StageType.SOURCE_TRANSFORM: lambda r: SourceTransformStage(r.quantization_recipe),
    StageType.QUANTIZE: lambda r: QuantizeStage(r.quantization_recipe, r.strict),
    StageType.TORCH_EXPORT: lambda r: TorchExportStage(r.aten_transform_passes, r.strict),
    StageType.TO_EDGE_TRANSFORM_AND_LOWER: lambda r: EdgeTransformAndLowerStage.from_recipe(
        r.lowering_recipe
    ),
    StageType.TO_EDGE: lambda r: ToEdgeStage.from_recipe(r.lowering_recipe),
    StageType.EDGE_PROGRAM_MANAGER_TRANSFORM: lambda r: (
        EdgeProgramManagerTransformStage.from_recipe(r.lowering_recipe)
    ),
    StageType.TO_BACKEND: lambda r: ToBackendStage.from_recipe(r.lowering_recipe),
    StageType.TO_EXECUTORCH: lambda r: ExecutorchStage(_backend_config(r)),
}


def _backend_config(recipe: ExportRecipe) -> ExecutorchBackendConfig | None:
    """The recipe's own; in debug mode with Python lines."""
    config = recipe.executorch_backend_config
    if recipe.mode == Mode.DEBUG:
        return replace(config or ExecutorchBackendConfig(), emit_stacktrace=True)
    return config


_FROM_PROGRAM = [StageType.TO_EDGE_TRANSFORM_AND_LOWER, StageType.TO_EXECUTORCH]
_FROM_MODEL = [
    StageType.SOURCE_TRANSFORM,
    StageType.QUANTIZE,
    StageType.TORCH_EXPORT,
    *_FROM_PROGRAM,
]
_DEFAULT_PIPELINES = {
    "nn.Module": _FROM_MODEL,
    "GraphModule": [StageType.TORCH_EXPORT, *_FROM_PROGRAM],
    "ExportedProgram": _FROM_PROGRAM,
}


def export(
    model: Models,
    example_inputs: ExampleInputs | None = None,
    export_recipe: ExportRecipe | None = None,
    name: str | None = None,
    dynamic_shapes: Any = None,
    constant_methods: dict[str, Any] | None = None,
    artifact_dir: str | None = None,
    generate_etrecord: bool = False,
    processing: Processing | None = None,
) -> ExportSession:
    """Runs all stages. `model`: a module, a program of torch.export, the path of a saved one, or a dict of modules or
    programs by method. Inputs and shapes are a dict by method then; otherwise they belong to "forward".
    Without a recipe the program runs on kernels. `processing`: steps before and after the model that the program has,
    too; `example_inputs` stay the model's own."""
    session = ExportSession(
        model,
        example_inputs,
        export_recipe,
        name,
        dynamic_shapes,
        constant_methods,
        artifact_dir,
        generate_etrecord,
        processing,
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
        processing: Processing | None = None,
    ) -> None:
        recipe = export_recipe or ExportRecipe()
        several = isinstance(model, dict)
        self._export_recipe = recipe
        self._quant_recipe, self._lowering_recipe = (
            recipe.quantization_recipe,
            recipe.lowering_recipe,
        )
        self._model = _by_method(model)
        self._input_model_type = _kind_of(self._model)
        self._dynamic_shapes = _for_methods(dynamic_shapes, several, "dynamic_shapes")
        self._example_inputs = _for_methods(example_inputs, several, "example_inputs")
        self._artifact_dir = artifact_dir
        if self._input_model_type != "ExportedProgram" and not self._example_inputs:
            raise ValueError(
                f"example_inputs are required when model is {self._input_model_type}: give [(tensor, ...)] or a dict "
                "by method. Only ExportedProgram inputs can omit example_inputs."
            )
        self._pipeline_stages = (
            self._get_default_pipeline()
            if recipe.pipeline_stages is None
            else list(recipe.pipeline_stages)
        )
        if processing:
            self._add_processing()
        self._warn_of_quantization_left_out()
        known = [kind for kind in self._pipeline_stages if kind in _MAKE_STAGE]
        self._stage_registry = {kind: _MAKE_STAGE[kind](recipe) for kind in known}
        if processing:
            self._stage_registry[StageType.PROCESS] = ProcessStage(processing)
        self._stage_to_artifacts: dict[StageType, PipelineArtifact] = {}
        self._run_context = {
            "example_inputs": self._example_inputs,
            "dynamic_shapes": self._dynamic_shapes,
            "constant_methods": constant_methods,
            "export_recipe": recipe,
            "session_name": name,
            "artifact_dir": artifact_dir,
            "generate_etrecord": bool(generate_etrecord) or recipe.mode == Mode.DEBUG,
        }

    def _warn_of_quantization_left_out(self) -> None:
        steps = {StageType.SOURCE_TRANSFORM, StageType.QUANTIZE}
        if self._quant_recipe is None or self._input_model_type == "nn.Module":
            return
        if steps.isdisjoint(self._pipeline_stages):
            warnings.warn(
                f"the recipe's quantization is left out: a {self._input_model_type} counts as quantized already. Give "
                "the torch.nn.Module that it was made of to have it quantized",
                stacklevel=4,
            )

    def _add_processing(self) -> None:
        """Before the model is captured."""
        if StageType.TORCH_EXPORT not in self._pipeline_stages:
            raise ValueError(
                "processing: expected a pipeline that has torch_export, and a module to capture: of an ExportedProgram "
                "give program.module()"
            )
        place = self._pipeline_stages.index(StageType.TORCH_EXPORT)
        self._pipeline_stages.insert(place, StageType.PROCESS)

    def _get_default_pipeline(self) -> list[StageType]:
        return list(_DEFAULT_PIPELINES[self._input_model_type])

    def register_stage(self, stage_type: StageType, stage: Stage) -> None:
        """Uses `stage` wherever the pipeline has this type."""
        self._stage_registry[stage_type] = stage

    def get_registered_stage(self, stage_type: StageType) -> Stage | None:
        return self._stage_registry.get(stage_type)

    def get_all_registered_stages(self) -> dict[StageType, Stage]:
        return self._stage_registry

    def export(self) -> None:
        """Runs the pipeline from its start; each artifact's context says how long its stage took."""
        self._validate_pipeline_sequence(self._pipeline_stages)
        self._stage_to_artifacts = {}
        artifact = PipelineArtifact(self._model, dict(self._run_context))
        for kind in self._pipeline_stages:
            started = time.perf_counter()
            self._stage_registry[kind].run(artifact)
            artifact = self._stage_registry[kind].get_artifacts()
            artifact = artifact.copy_with_new_data(artifact.data)
            artifact.add_context("duration_ms", round((time.perf_counter() - started) * 1e3))
            self._stage_to_artifacts[kind] = artifact
        self._example_inputs = artifact.get_context("example_inputs") or self._example_inputs

    def get_stage_artifacts(self) -> dict[StageType, PipelineArtifact]:
        return self._stage_to_artifacts

    def get_exported_program(self, method_name: str = "forward") -> ExportedProgram:
        """The program as torch.export and the ATen passes left it."""
        made = self._stage_to_artifacts.get(StageType.TORCH_EXPORT)
        if made is None and self._input_model_type != "ExportedProgram":
            raise RuntimeError(
                "Exported program is not available. Call export() with a pipeline that has the stage torch_export"
            )
        return _lookup(made.data if made else self._model, method_name, "exported programs")

    def get_edge_program_manager(self) -> EdgeProgramManager:
        """After the last stage that made edge programs."""
        for kind in reversed(self._pipeline_stages):
            if kind in self._stage_to_artifacts and isinstance(
                self._stage_to_artifacts[kind].data, EdgeProgramManager
            ):
                return self._stage_to_artifacts[kind].data
        raise RuntimeError(
            "Edge program manager is not available. Call export() with a pipeline that makes one"
        )

    def get_executorch_program_manager(self) -> ExecutorchProgramManager:
        if StageType.TO_EXECUTORCH not in self._stage_to_artifacts:
            raise RuntimeError(
                "Executorch program manager is not initialized. Call export() with a pipeline that ends in "
                "to_executorch"
            )
        return self._stage_to_artifacts[StageType.TO_EXECUTORCH].data

    def get_executorch_program(self) -> Program:
        return self.get_executorch_program_manager().executorch_program

    def get_pte_buffer(self) -> bytes:
        return self.get_executorch_program_manager().buffer

    def save_to_pte(self, output_name: str) -> None:
        """Writes the program, and data files beside it, under `artifact_dir` if one was given."""
        if not output_name:
            raise AssertionError("Need a valid output name, got an empty one")
        save_pte_program(
            self.get_executorch_program_manager(), output_name, self._artifact_dir or ""
        )

    def get_example_input(self, method_name: str = "forward") -> tuple[Any, ...]:
        examples = _lookup(self._example_inputs, method_name, "example inputs")
        if not examples:
            raise ValueError(f"the list of example inputs of method {method_name!r} is empty")
        return examples[0]

    def run_method(
        self, method_name: str = "forward", example_inputs: tuple[Any, ...] | None = None
    ) -> Sequence[Any]:
        """The method's outputs on the C++ runtime, for these inputs or the first example."""
        inputs = self.get_example_input(method_name) if example_inputs is None else example_inputs
        program = Runtime.get().load_program(self.get_pte_buffer())
        return program.load_method(method_name).execute(list(inputs))

    def print_delegation_info(self) -> None:
        """Per method: how many calls run on backends, how many on kernels."""
        self._last_artifact()
        for method in sorted((manager := self.get_edge_program_manager()).methods):
            counts = get_delegation_info(manager.exported_program(method).graph_module)
            print(f"{method}\n{counts.get_summary()}")

    def get_etrecord(self) -> Any:
        if not self._run_context["generate_etrecord"]:
            raise RuntimeError(
                "no ETRecord: pass generate_etrecord=True to export, or a recipe of mode DEBUG"
            )
        return self.get_executorch_program_manager().get_etrecord()

    def _validate_pipeline_sequence(self, stages: list[StageType]) -> None:
        """Raises ValueError for an order that cannot run on what the session was given."""
        if not stages:
            raise ValueError("Pipeline stages cannot be empty")
        kind = self._input_model_type
        done = {stage for stage in _FROM_MODEL if stage not in _DEFAULT_PIPELINES[kind]}
        wrong = [stage.name for stage in stages if stage in done]
        if wrong:
            state = "exported" if kind == "ExportedProgram" else "quantized"
            raise ValueError(
                f"Cannot run {', '.join(wrong)} stage(s) with {kind} input: it is already {state}. Leave them out of "
                "pipeline_stages"
            )
        for stage in stages:
            if stage not in self._stage_registry:
                raise ValueError(
                    f"Stage {stage} not found in registry; call session.register_stage() with one"
                )
        if not self._stage_registry[stages[0]].can_start_pipeline:
            raise ValueError(f"Stage {stages[0]} cannot start a pipeline. Begin with torch_export")
        for before, stage in zip(stages, stages[1:], strict=False):
            allowed = self._stage_registry[stage].valid_predecessor_stages
            if allowed and before not in allowed:
                raise ValueError(
                    f"Invalid transition from {before} to {stage}. Valid predecessors for {stage}: {allowed}"
                )

    def _last_artifact(self) -> PipelineArtifact:
        if not self._stage_to_artifacts:
            raise RuntimeError("nothing exported yet; call export() first")
        return list(self._stage_to_artifacts.values())[-1]


def _by_method(model: Models) -> dict[str, Any]:
    if isinstance(model, str | os.PathLike):
        model = torch.export.load(model)
    models = dict(model) if isinstance(model, dict) else {"forward": model}
    for name, one in models.items():
        if not isinstance(one, torch.nn.Module | ExportedProgram):
            raise TypeError(
                f"Unsupported model type: {type(one)}; expected a torch.nn.Module, an ExportedProgram or a path for "
                f"method {name!r}"
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


def _kind_of(models: dict[str, Any]) -> str:
    kinds = {
        "ExportedProgram"
        if isinstance(one, ExportedProgram)
        else "GraphModule"
        if isinstance(one, torch.fx.GraphModule)
        else "nn.Module"
        for one in models.values()
    }
    if len(kinds) > 1:
        raise ValueError(
            f"expected either modules or exported programs for all methods, got {sorted(kinds)}"
        )
    return kinds.pop()


def _lookup(items: dict[str, Any], name: str, what: str) -> Any:
    if name not in items:
        raise KeyError(
            f"Method name {name!r} not found in {what}. Available methods: {sorted(items)}"
        )
    return items[name]
