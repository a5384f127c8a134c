# SPDX-License-Identifier: BSD-3-Clause
"""Compile specs: their keys, and what a list of them says. The first of a key holds."""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import Enum

from executorch.backends.apple.coreml.aot.enumerated_shapes import EnumeratedShapes
from executorch.backends.apple.coreml.aot.library import ct
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.payload.options import OptionError
from executorch.exir.error import ExportErrorType

Specs = Iterable[CompileSpec]


class COMPILE_SPEC_KEYS(Enum):
    COMPUTE_UNITS = "compute_units"
    MIN_DEPLOYMENT_TARGET = "min_deployment_target"
    MODEL_COMPUTE_PRECISION = "model_compute_precision"
    MODEL_TYPE = "model_type"
    OP_LINEAR_QUANTIZER_CONFIG = "op_linear_quantizer_config"
    PASS_PIPELINE = "pass_pipeline"
    MULTIMETHOD_WEIGHT_SHARING_STRATEGY = "multimethod_weight_sharing_strategy"
    ENUMERATED_SHAPES = "enumerated_shapes"


class MODEL_TYPE(Enum):
    """COMPILED_MODEL: compiled by Core ML on this machine, which must have macOS."""

    MODEL = "model"
    COMPILED_MODEL = "compiled_model"


class MULTIMETHOD_WEIGHT_SHARING_STRATEGY(Enum):
    """POSITIONAL: the delegates of all methods that have the same place become one model."""

    POSITIONAL = "positional"
    DISABLED = "disabled"


_KEYS = COMPILE_SPEC_KEYS


def compute_unit(compile_specs: Specs) -> ct.ComputeUnit:
    value = _found(compile_specs, _KEYS.COMPUTE_UNITS)
    return ct.ComputeUnit.ALL if value is None else ct.ComputeUnit[value.upper()]


def min_deployment_target(compile_specs: Specs) -> ct.target | None:
    """None: the smallest that the model needs."""
    value = _found(compile_specs, _KEYS.MIN_DEPLOYMENT_TARGET)
    return ct.target(int(value)) if value else None


def compute_precision(compile_specs: Specs) -> ct.precision:
    value = _found(compile_specs, _KEYS.MODEL_COMPUTE_PRECISION)
    return ct.precision.FLOAT16 if value is None else ct.precision(value)


def model_type(compile_specs: Specs) -> MODEL_TYPE:
    value = _found(compile_specs, _KEYS.MODEL_TYPE)
    return MODEL_TYPE.MODEL if value is None else MODEL_TYPE(value)


def op_linear_quantizer_config(
    compile_specs: Specs,
) -> ct.optimize.coreml.OpLinearQuantizerConfig | None:
    value = _found(compile_specs, _KEYS.OP_LINEAR_QUANTIZER_CONFIG)
    return (
        None if value is None else ct.optimize.coreml.OpLinearQuantizerConfig(**json.loads(value))
    )


def pass_pipeline(compile_specs: Specs) -> ct.PassPipeline:
    value = _found(compile_specs, _KEYS.PASS_PIPELINE)
    if value is None:
        return ct.PassPipeline.DEFAULT
    return ct.PassPipeline(json.loads(value), pipeline_name="executorch_user_pipeline")


def weight_sharing(compile_specs: Specs) -> MULTIMETHOD_WEIGHT_SHARING_STRATEGY:
    value = _found(compile_specs, _KEYS.MULTIMETHOD_WEIGHT_SHARING_STRATEGY)
    kinds = MULTIMETHOD_WEIGHT_SHARING_STRATEGY
    return kinds.POSITIONAL if value is None else kinds(value)


def enumerated_shapes(compile_specs: Specs) -> EnumeratedShapes | None:
    value = _found(compile_specs, _KEYS.ENUMERATED_SHAPES)
    return None if value is None else EnumeratedShapes.of_json(value)


def check_keys(compile_specs: Specs) -> None:
    """OptionError for a key that there is not: nothing that is said stays without effect."""
    known = [key.value for key in _KEYS]
    for spec in compile_specs:
        if spec.key not in known:
            raise OptionError(
                ExportErrorType.NOT_SUPPORTED,
                f"CoreMLBackend: compile spec {spec.key}: expected one of {', '.join(known)}",
            )


def _found(specs: Specs, key: COMPILE_SPEC_KEYS) -> str | None:
    return next((bytes(each.value).decode() for each in specs if each.key == key.value), None)
