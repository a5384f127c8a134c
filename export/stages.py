# SPDX-License-Identifier: BSD-3-Clause
"""The stages between a model and its program. Each takes an artifact (models or programs by method, or a manager, and
a context that travels along) and leaves another; which may follow which is data in each class."""

from __future__ import annotations

import copy
import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import torch
from torch.export import ExportedProgram

from executorch.devtools.backend_debug import get_delegation_info
from executorch.exir import (
    EdgeCompileConfig,
    EdgeProgramManager,
    ExecutorchBackendConfig,
    to_edge,
    to_edge_transform_and_lower,
)
from executorch.exir.capture.diagnostics import export_module
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.pass_manager import PassManager
from executorch.exir.pass_manager import PassType as PassType
from executorch.export.recipe import LoweringRecipe, Passes, QuantizationRecipe
from executorch.export.types import Arguments, StageType, keywords_of
from executorch.extension.processing.processed import Processed
from executorch.extension.processing.steps import Processing

MethodPasses = list[Callable[[str, ExportedProgram], Passes]]
ManagerPasses = list[Callable[[EdgeProgramManager], Passes]]


class PipelineArtifact:
    """What one stage hands to the next. Copies share nothing but the values of the context."""

    def __init__(self, data: Any, context: dict[str, Any]) -> None:
        self.data = data
        self.context = context

    def add_context(self, key: str, value: Any) -> None:
        self.context[key] = value

    def get_context(self, key: str, default: Any = None) -> Any:
        return self.context.get(key, default)

    def copy_with_new_data(self, new_data: Any) -> PipelineArtifact:
        return PipelineArtifact(new_data, dict(self.context))


class Stage(ABC):
    """`run` leaves the stage's result in `get_artifacts`; the artifact it was given stays as it was."""

    _type: ClassVar[StageType]
    _predecessors: ClassVar[tuple[StageType, ...]] = ()
    _starts: ClassVar[bool] = False

    def __init__(self) -> None:
        self._artifact: PipelineArtifact | None = None

    @property
    def stage_type(self) -> StageType:
        return self._type

    @property
    def valid_predecessor_stages(self) -> list[StageType]:
        return list(self._predecessors)

    @property
    def can_start_pipeline(self) -> bool:
        return self._starts

    @abstractmethod
    def run(self, artifact: PipelineArtifact) -> None: ...

    def get_artifacts(self) -> PipelineArtifact:
        if self._artifact is None:
            raise RuntimeError(f"Stage: {type(self).__name__} not executed; call run() first")
        return self._artifact


class SourceTransformStage(Stage):
    """Models -> models whose weights torchao's `quantize_` changed; the given models stay as they are."""

    _type = StageType.SOURCE_TRANSFORM
    _starts = True

    def __init__(self, quantization_recipe: QuantizationRecipe | None = None) -> None:
        super().__init__()
        self._quantization_recipe = quantization_recipe
        self._transformed_models: dict[str, Any] = {}

    def run(self, artifact: PipelineArtifact) -> None:
        configs = (
            self._quantization_recipe and self._quantization_recipe.ao_quantization_configs
        ) or []
        if not configs:
            self._artifact = artifact
            return
        if len(configs) > 1:
            raise ValueError(
                f"{len(configs)} configurations of torchao cannot be reliably composed: give one, with a filter_fn"
            )
        models = self._transformed_models = dict(artifact.data)
        if configs:
            quantize, unwrap = (
                _torchao("quantization", "quantize_"),
                _torchao("utils", "unwrap_tensor_subclass"),
            )
            for name, model in models.items():
                models[name] = model = copy.deepcopy(model)
                for config in configs:
                    quantize(model, config.ao_base_config, config.filter_fn)
                unwrap(model)
        self._artifact = artifact.copy_with_new_data(models)


class QuantizeStage(Stage):
    """Models -> captured, observed on all example inputs, and converted by the recipe's quantizers."""

    _type = StageType.QUANTIZE
    _predecessors = (StageType.SOURCE_TRANSFORM,)
    _starts = True

    def __init__(
        self, quantization_recipe: QuantizationRecipe | None = None, strict: bool = True
    ) -> None:
        super().__init__()
        self._quantization_recipe = quantization_recipe
        self.strict = strict

    def run(self, artifact: PipelineArtifact) -> None:
        quantizers = (
            self._quantization_recipe and self._quantization_recipe.get_quantizers()
        ) or []
        if not quantizers:
            self._artifact = artifact
            return
        models = dict(artifact.data)
        if quantizers:
            quantizer = quantizers[0]
            if len(quantizers) > 1:
                quantizer = _torchao("quantization.pt2e.quantizer", "ComposableQuantizer")(
                    quantizers
                )
            inputs = artifact.get_context("example_inputs", {})
            shapes = artifact.get_context("dynamic_shapes", {})
            for name, model in models.items():
                first_example(inputs, name)
                how = {
                    "dynamic_shapes": shapes.get(name),
                    "strict": self.strict,
                    "name": f"method {name}",
                }
                models[name] = _quantized(model, quantizer, inputs[name], how)
        self._artifact = artifact.copy_with_new_data(models)


def _quantized(
    model: torch.nn.Module, quantizer: Any, examples: list[tuple[Any, ...]], how: dict[str, Any]
) -> torch.nn.Module:
    """`how` goes to export_module."""
    module = "quantization.pt2e.quantize_pt2e"
    prepare, convert = _torchao(module, "prepare_pt2e"), _torchao(module, "convert_pt2e")
    with torch.no_grad():
        captured = export_module(
            model, tuple(examples[0]), keywords_of(examples[0]), **how
        ).module()
        prepared = prepare(captured, quantizer)
        for example in examples:
            prepared(*example, **keywords_of(example))
        return convert(prepared)


def _torchao(module: str, name: str) -> Any:
    try:
        return getattr(importlib.import_module(f"torchao.{module}"), name)
    except ImportError as missing:
        raise ExportError(
            ExportErrorType.MISSING_PROPERTY,
            f"the recipe quantizes, which needs torchao.{module}; pip install torchao, or leave "
            "quantization_recipe out",
        ) from missing


class ProcessStage(Stage):
    """Models -> models between the steps of a Processing, and examples that go with these: behind quantization, which
    sees the model alone."""

    _type = StageType.PROCESS
    _predecessors = (StageType.SOURCE_TRANSFORM, StageType.QUANTIZE)
    _starts = True

    def __init__(self, processing: Processing) -> None:
        super().__init__()
        self._processing = processing

    def run(self, artifact: PipelineArtifact) -> None:
        if len(artifact.data) != 1:
            raise ValueError(
                f"processing: expected a model of one method, found {', '.join(artifact.data)}"
            )
        ((name, model),) = artifact.data.items()
        example = first_example(artifact.get_context("example_inputs", {}), name)
        shapes = artifact.get_context("dynamic_shapes", {}).get(name)
        made = Processed.of(self._processing, model, tuple(example), keywords_of(example), shapes)
        self._artifact = artifact.copy_with_new_data({name: made.module})
        inputs = [Arguments(made.inputs, made.keywords)]
        self._artifact.add_context("example_inputs", {name: inputs})
        self._artifact.add_context("dynamic_shapes", {name: made.dynamic_shapes})
        metadata = made.carried.metadata(name, self._processing.labels)
        self._artifact.add_context("user_metadata", metadata)


class TorchExportStage(Stage):
    """Models -> programs of torch.export, then the ATen passes, each with the method's name."""

    _type = StageType.TORCH_EXPORT
    _predecessors = (StageType.SOURCE_TRANSFORM, StageType.QUANTIZE, StageType.PROCESS)
    _starts = True

    def __init__(
        self,
        aten_transform_passes: list[Callable[[str, ExportedProgram], ExportedProgram]]
        | None = None,
        strict: bool = True,
    ) -> None:
        super().__init__()
        self._aten_transform_passes = aten_transform_passes
        self.strict = strict

    def run(self, artifact: PipelineArtifact) -> None:
        inputs = artifact.get_context("example_inputs", {})
        shapes = artifact.get_context("dynamic_shapes", {})
        programs = {}
        with torch.no_grad():
            for name, model in artifact.data.items():
                example = first_example(inputs, name)
                program = export_module(
                    model,
                    tuple(example),
                    keywords_of(example),
                    dynamic_shapes=shapes.get(name),
                    strict=self.strict,
                    name=f"method {name}",
                )
                for one in self._aten_transform_passes or []:
                    if not callable(one):
                        raise ValueError(f"Aten transform passes must be a callable, found {one!r}")
                    program = one(name, program)
                programs[name] = program
        self._artifact = artifact.copy_with_new_data(programs)


class EdgeTransformAndLowerStage(Stage):
    """Programs -> edge programs, transformed and delegated in one step."""

    _type = StageType.TO_EDGE_TRANSFORM_AND_LOWER
    _predecessors = (StageType.TORCH_EXPORT,)
    _starts = True

    def __init__(
        self,
        partitioners: list[Any] | None = None,
        transform_passes: MethodPasses | None = None,
        compile_config: EdgeCompileConfig | None = None,
    ) -> None:
        super().__init__()
        self._partitioners = partitioners
        self._transform_passes = transform_passes
        self._compile_config = compile_config

    @classmethod
    def from_recipe(cls, lowering_recipe: LoweringRecipe | None) -> EdgeTransformAndLowerStage:
        recipe = lowering_recipe or LoweringRecipe()
        return cls(recipe.partitioners, recipe.edge_transform_passes, recipe.edge_compile_config)

    @property
    def delegation_info(self) -> dict[str, Any] | None:
        return self._artifact.get_context("delegation_info") if self._artifact else None

    def run(self, artifact: PipelineArtifact) -> None:
        manager = to_edge_transform_and_lower(
            artifact.data,
            transform_passes=_passes_by_method(self._transform_passes, artifact.data),
            partitioner=self._partitioners,
            constant_methods=artifact.get_context("constant_methods"),
            compile_config=self._compile_config,
            generate_etrecord=artifact.get_context("generate_etrecord", False),
        )
        self._artifact = _with_delegation(artifact.copy_with_new_data(manager))


class ToEdgeStage(Stage):
    """Programs -> edge programs; what follows is up to later stages."""

    _type = StageType.TO_EDGE
    _predecessors = (StageType.TORCH_EXPORT,)
    _starts = True

    def __init__(self, edge_compile_config: EdgeCompileConfig | None = None) -> None:
        super().__init__()
        self._edge_compile_config = edge_compile_config

    @classmethod
    def from_recipe(cls, lowering_recipe: LoweringRecipe | None) -> ToEdgeStage:
        return cls((lowering_recipe or LoweringRecipe()).edge_compile_config)

    def run(self, artifact: PipelineArtifact) -> None:
        manager = to_edge(
            artifact.data,
            constant_methods=artifact.get_context("constant_methods"),
            compile_config=self._edge_compile_config,
            generate_etrecord=artifact.get_context("generate_etrecord", False),
        )
        self._artifact = artifact.copy_with_new_data(manager)


class EdgeProgramManagerTransformStage(Stage):
    """Edge programs -> transformed: first passes chosen per method, then passes chosen for the whole manager."""

    _type = StageType.EDGE_PROGRAM_MANAGER_TRANSFORM
    _predecessors = (StageType.TO_EDGE,)

    def __init__(
        self,
        edge_transform_passes: MethodPasses | None = None,
        edge_manager_transform_passes: ManagerPasses | None = None,
    ) -> None:
        super().__init__()
        self._edge_transform_passes = edge_transform_passes or []
        self._edge_manager_transform_passes = edge_manager_transform_passes or []

    @classmethod
    def from_recipe(
        cls, lowering_recipe: LoweringRecipe | None
    ) -> EdgeProgramManagerTransformStage:
        recipe = lowering_recipe or LoweringRecipe()
        return cls(recipe.edge_transform_passes, recipe.edge_manager_transform_passes)

    def run(self, artifact: PipelineArtifact) -> None:
        manager = _manager_in(artifact)
        programs = {name: manager.exported_program(name) for name in sorted(manager.methods)}
        by_method = _passes_by_method(self._edge_transform_passes, programs)
        if by_method is not None:
            manager = manager.transform(by_method)
        for choose in self._edge_manager_transform_passes:
            manager = manager.transform(_as_list(choose(manager)))
        self._artifact = artifact.copy_with_new_data(manager)


class ToBackendStage(Stage):
    """Edge programs -> delegated, partitioners in order of priority."""

    _type = StageType.TO_BACKEND
    _predecessors = (StageType.TO_EDGE, StageType.EDGE_PROGRAM_MANAGER_TRANSFORM)

    def __init__(self, partitioners: list[Any] | None = None) -> None:
        super().__init__()
        self._partitioners = partitioners

    @classmethod
    def from_recipe(cls, lowering_recipe: LoweringRecipe | None) -> ToBackendStage:
        return cls((lowering_recipe or LoweringRecipe()).partitioners)

    @property
    def delegation_info(self) -> dict[str, Any] | None:
        return self._artifact.get_context("delegation_info") if self._artifact else None

    def run(self, artifact: PipelineArtifact) -> None:
        manager = _manager_in(artifact).to_backend(self._partitioners)
        self._artifact = _with_delegation(artifact.copy_with_new_data(manager))


class ExecutorchStage(Stage):
    """Edge programs -> the planned and emitted program."""

    _type = StageType.TO_EXECUTORCH
    _predecessors = (
        StageType.TO_EDGE_TRANSFORM_AND_LOWER,
        StageType.TO_BACKEND,
        StageType.EDGE_PROGRAM_MANAGER_TRANSFORM,
    )

    def __init__(self, backend_config: ExecutorchBackendConfig | None = None) -> None:
        super().__init__()
        self._backend_config = backend_config

    def run(self, artifact: PipelineArtifact) -> None:
        config = self._backend_config
        if metadata := artifact.get_context("user_metadata"):
            config = config or ExecutorchBackendConfig()
            config = replace(config, user_metadata={**config.user_metadata, **metadata})
        self._artifact = artifact.copy_with_new_data(_manager_in(artifact).to_executorch(config))


def _manager_in(artifact: PipelineArtifact) -> EdgeProgramManager:
    if artifact.data is None:
        raise RuntimeError("Edge program manager is not set.")
    if not isinstance(artifact.data, EdgeProgramManager):
        raise TypeError(f"Expected EdgeProgramManager but got {type(artifact.data)}")
    return artifact.data


def first_example(example_inputs: dict[str, Any], method: str) -> tuple[Any, ...]:
    """The example that torch.export traces a method with."""
    if not example_inputs.get(method):
        raise ValueError(
            f"Example inputs for method {method} not found. Give example_inputs=[(tensor, ...)] or a dict by "
            f"method (given: {sorted(example_inputs)})"
        )
    return copy.copy(example_inputs[method][0])


def _as_list(passes: Passes) -> list[Any]:
    return [passes] if isinstance(passes, PassManager) else list(passes)


def _passes_by_method(
    choices: MethodPasses | None, programs: dict[str, ExportedProgram]
) -> dict[str, list[Any]] | None:
    if not choices:
        return None
    for choose in choices:
        if not callable(choose):
            raise ValueError(f"Transform passes must be a callable, found {choose!r}")
    return {
        name: [one for choose in choices for one in _as_list(choose(name, program))]
        for name, program in programs.items()
    }


def _with_delegation(artifact: PipelineArtifact) -> PipelineArtifact:
    """Notes what of the method "forward" (else of the first one) runs on backends."""
    manager: EdgeProgramManager = artifact.data
    name = "forward" if "forward" in manager.methods else min(manager.methods)
    info = get_delegation_info(manager.exported_program(name).graph_module)
    artifact.add_context("delegation_info", info)
    return artifact
