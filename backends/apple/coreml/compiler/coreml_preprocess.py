# SPDX-License-Identifier: BSD-3-Clause
"""`CoreMLBackend`: one program becomes one Core ML model, and how it is told what to convert for."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path
from typing import Any, final

from torch.export import ExportedProgram

from executorch.backends.apple.coreml.aot import package, several_methods, specs
from executorch.backends.apple.coreml.aot.compiler import COREML
from executorch.backends.apple.coreml.aot.enumerated_shapes import EnumeratedShapes
from executorch.backends.apple.coreml.aot.library import ct
from executorch.backends.apple.coreml.aot.package import (
    MethodMetadata,
    ModelDebugInfo,
    ModelMetadata,
    MultifunctionModelMetadata,
)
from executorch.backends.apple.coreml.aot.specs import (
    COMPILE_SPEC_KEYS,
    MODEL_TYPE,
    MULTIMETHOD_WEIGHT_SHARING_STRATEGY,
)
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.external.compiler import options_of

__all__ = [
    "COMPILE_SPEC_KEYS",
    "MODEL_PATHS",
    "MULTIMETHOD_WEIGHT_SHARING_STRATEGY",
    "CoreMLBackend",
    "MethodMetadata",
    "ModelDebugInfo",
    "ModelMetadata",
    "MultifunctionModelMetadata",
]

_KEYS = COMPILE_SPEC_KEYS
MODEL_PATHS = package.MODEL_PATHS


def _spec(key: COMPILE_SPEC_KEYS, value: str) -> CompileSpec:
    return CompileSpec(key.value, value.encode())


@final
class CoreMLBackend(BackendDetails):
    """Takes the programs that CoreMLPartitioner cuts out."""

    MODEL_TYPE: type[Enum] = MODEL_TYPE

    @staticmethod
    def generate_compile_specs(
        compute_unit: ct.ComputeUnit = ct.ComputeUnit.ALL,
        minimum_deployment_target: ct.target | None = None,
        compute_precision: ct.precision = ct.precision.FLOAT16,
        model_type: MODEL_TYPE = MODEL_TYPE.MODEL,
        op_linear_quantizer_config: dict[str, Any] | None = None,
        pass_names: list[str] | None = None,
    ) -> list[CompileSpec]:
        """What CoreMLPartitioner's `compile_specs` is given."""
        backend = CoreMLBackend
        found = [
            backend.generate_compute_unit_compile_spec(compute_unit),
            backend.generate_minimum_deployment_target_compile_spec(minimum_deployment_target),
            backend.generate_compute_precision_compile_spec(compute_precision),
            backend.generate_model_type_compile_spec(model_type),
        ]
        if op_linear_quantizer_config is not None:
            found.append(
                backend.generate_op_linear_quantizer_config_compile_spec(op_linear_quantizer_config)
            )
        if pass_names is not None:
            found.append(backend.generate_pass_pipeline_compile_spec(pass_names))
        return found

    # ---- One compile spec each ----

    @staticmethod
    def generate_compute_unit_compile_spec(compute_unit: ct.ComputeUnit) -> CompileSpec:
        return _spec(_KEYS.COMPUTE_UNITS, compute_unit.name.lower())

    @staticmethod
    def generate_minimum_deployment_target_compile_spec(
        min_deployment_target: ct.target | None,
    ) -> CompileSpec:
        """Empty: the smallest target that the model needs."""
        value = "" if min_deployment_target is None else str(min_deployment_target.value)
        return _spec(_KEYS.MIN_DEPLOYMENT_TARGET, value)

    @staticmethod
    def generate_compute_precision_compile_spec(compute_precision: ct.precision) -> CompileSpec:
        return _spec(_KEYS.MODEL_COMPUTE_PRECISION, compute_precision.value)

    @staticmethod
    def generate_model_type_compile_spec(model_type: MODEL_TYPE) -> CompileSpec:
        return _spec(_KEYS.MODEL_TYPE, model_type.value)

    @staticmethod
    def generate_op_linear_quantizer_config_compile_spec(config: dict[str, Any]) -> CompileSpec:
        """`config`: arguments of coremltools' OpLinearQuantizerConfig, for the weights."""
        return _spec(_KEYS.OP_LINEAR_QUANTIZER_CONFIG, json.dumps(config))

    @staticmethod
    def generate_pass_pipeline_compile_spec(pass_names: list[str]) -> CompileSpec:
        """The passes of coremltools, in this order, in place of its own pipeline."""
        return _spec(_KEYS.PASS_PIPELINE, json.dumps(pass_names))

    @staticmethod
    def generate_multimethod_weight_sharing_strategy_compile_spec(
        strategy: MULTIMETHOD_WEIGHT_SHARING_STRATEGY,
    ) -> CompileSpec:
        return _spec(_KEYS.MULTIMETHOD_WEIGHT_SHARING_STRATEGY, strategy.value)

    @staticmethod
    def generate_enumerated_shapes_compile_spec(
        ep: ExportedProgram, enumerated_shapes: dict[str, list[list[int]]]
    ) -> CompileSpec:
        """All sizes that inputs of dynamic sizes may have: by input, one list per set of sizes that go together."""
        shapes = EnumeratedShapes.of_program(ep, enumerated_shapes)
        return _spec(_KEYS.ENUMERATED_SHAPES, shapes.to_json())

    # ---- What a list of them says; the first of a key holds ----

    compute_unit_from_compile_specs = staticmethod(specs.compute_unit)
    min_deployment_target_from_compile_specs = staticmethod(specs.min_deployment_target)
    model_compute_precision_from_compile_specs = staticmethod(specs.compute_precision)
    model_type_from_compile_specs = staticmethod(specs.model_type)
    op_linear_quantizer_config_from_compile_specs = staticmethod(specs.op_linear_quantizer_config)
    pass_pipeline_from_compile_specs = staticmethod(specs.pass_pipeline)
    multimethod_weight_sharing_strategy_from_compile_specs = staticmethod(specs.weight_sharing)
    enumerated_shapes_from_compile_specs = staticmethod(specs.enumerated_shapes)

    # ---- Models ----

    @staticmethod
    def model_metadata_from_spec(model_spec: Any, identifier: str) -> ModelMetadata:
        return package.model_metadata_from_spec(model_spec, identifier)

    @staticmethod
    def get_debug_symbol(operation_path: list[dict[str, str]]) -> str | None:
        return package.debug_symbol(operation_path)

    @staticmethod
    def get_model_debug_info(model_package_dir: Path) -> ModelDebugInfo | None:
        return package.debug_info_of(Path(model_package_dir))

    @staticmethod
    def save_model_metadata(model_metadata: ModelMetadata, model_dir_path: Path) -> None:
        package.save_json(model_metadata, Path(model_dir_path) / MODEL_PATHS.METADATA.value)

    @staticmethod
    def save_model_debug_info(model_debug_info: ModelDebugInfo, model_dir_path: Path) -> None:
        package.save_json(model_debug_info, Path(model_dir_path) / MODEL_PATHS.DEBUG_INFO.value)

    @staticmethod
    def preprocess_model(mlmodel: ct.models.MLModel, model_type: MODEL_TYPE) -> PreprocessResult:
        """The payload of a model that coremltools converted already."""
        return package.result_of(package.payload_of(mlmodel, model_type))

    # ---- Programs ----

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        return package.result_of(COREML.payload(edge_program, options_of(compile_specs)))

    @classmethod
    def preprocess_multimethod(
        cls,
        edge_programs: dict[str, list[ExportedProgram]],
        compile_specs: dict[str, list[list[CompileSpec]]],
    ) -> dict[str, list[PreprocessResult]]:
        """Several methods become one model with a function each, unless compile specs say `disabled`."""
        alone = super().preprocess_multimethod(edge_programs, compile_specs)
        return several_methods.joined(alone, compile_specs)
