# SPDX-License-Identifier: BSD-3-Clause
"""One program becomes one payload: coremltools' frontend for PyTorch reads the graph."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch.export import ExportedProgram

from executorch.backends.apple.coreml.aot import specs, torch_ops
from executorch.backends.apple.coreml.aot.boundary import check_boundary
from executorch.backends.apple.coreml.aot.frontend_program import adapt, adapt_more
from executorch.backends.apple.coreml.aot.halves import precision
from executorch.backends.apple.coreml.aot.library import VERSION, ct, quiet, without_old_garbage
from executorch.backends.apple.coreml.aot.package import payload_of
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.external.compiler import ExternalCompiler, Refused
from executorch.exir.error import ExportError

_log = logging.getLogger(__name__)
_LOCATION = re.compile(r"converting '[^']*' op \(located at: '([^']*)'\)")
_LATER = re.compile(
    r"update the minimum_deployment_target to at least coremltools\.target\.(iOS\d+)"
)


def compile_program(
    program: ExportedProgram, options: Mapping[str, str], place: Path | None
) -> bytes:
    compile_specs = [CompileSpec(key, value.encode()) for key, value in options.items()]
    specs.check_keys(compile_specs)
    model = convert(program, compile_specs)
    payload = payload_of(model, specs.model_type(compile_specs))
    if place:
        model.save(str(place / "model.mlpackage"))
    return payload


COREML = ExternalCompiler("coremltools", "coremltools", f"=={VERSION}", "coreml", compile_program)


def convert(program: ExportedProgram, compile_specs: list[CompileSpec]) -> ct.models.MLModel:
    """Raises Refused, with the call that has no translation where coremltools says which. Where no target was asked
    for, it is the least that coremltools says is needed."""
    asked = specs.min_deployment_target(compile_specs)
    target = check_boundary(program, asked)
    adapt(program)
    while True:
        with quiet() as heard, without_old_garbage():
            try:
                model = _converted(program, compile_specs, target)
                break
            except ExportError:
                raise
            except Exception as error:
                if adapt_more(program, error):
                    continue
                later = _later_target(error) if asked is None else None
                if later is None or (target is not None and later <= target):
                    raise _refusal(error, heard, program) from error
                _log.info("Core ML: target %s: %s", later.name, error)
                target = later
    _check_results(model, program)
    return model


def _converted(
    program: ExportedProgram, compile_specs: list[CompileSpec], target: ct.target | None
) -> ct.models.MLModel:
    shapes = specs.enumerated_shapes(compile_specs)
    model = ct.convert(
        model=program,
        source="pytorch",
        convert_to="mlprogram",
        pass_pipeline=specs.pass_pipeline(compile_specs),
        skip_model_load=specs.model_type(compile_specs) is not specs.MODEL_TYPE.COMPILED_MODEL,
        compute_precision=precision(specs.compute_precision(compile_specs)),
        minimum_deployment_target=target,
        compute_units=specs.compute_unit(compile_specs),
        inputs=None if shapes is None else shapes.inputs(program, target),
    )
    config = specs.op_linear_quantizer_config(compile_specs)
    return model if config is None else _with_small_weights(model, config)


def _later_target(error: Exception) -> ct.target | None:
    found = _LATER.search(str(error))
    return ct.target[found[1]] if found else None


def _refusal(error: Exception, heard: list[str], program: ExportedProgram) -> Refused:
    """With the name of the call that coremltools logged."""
    text = str(error).strip() or type(error).__name__
    reason = torch_ops.with_hint(" ".join(text.split()))
    names = {node.name for node in program.graph.nodes}
    message = [found for line in heard for found in _LOCATION.findall(line)]
    return Refused(f"coremltools: {reason}", [name for name in message[-1:] if name in names])


def _with_small_weights(model: ct.models.MLModel, config: Any) -> ct.models.MLModel:
    """The weights of all operators but look-ups are rounded."""
    _log.warning(
        "Core ML: op_linear_quantizer_config is experimental: it rounds the weights of the model"
    )
    optimize = ct.optimize.coreml
    how = optimize.OptimizationConfig(global_config=config, op_type_configs={"gather": None})
    return optimize.linear_quantize_weights(model, config=how)


def _check_results(model: ct.models.MLModel, program: ExportedProgram) -> None:
    """As many as the program gives, of its sizes: nothing is taken whose results would be others."""
    described = model.get_spec().description.output
    wanted = [
        node
        for spec, node in zip(
            program.graph_signature.output_specs, program.graph.output_node().args[0], strict=True
        )
        if spec.kind.name == "USER_OUTPUT"
    ]
    if len(described) != len(wanted):
        raise Refused(f"coremltools gives {len(described)} results, {len(wanted)} are expected")
    for one, node in zip(described, wanted, strict=True):
        sizes = list(one.type.multiArrayType.shape)
        expected = list(node.meta["val"].shape)
        if not sizes or any(isinstance(size, torch.SymInt) for size in expected):
            continue
        if sizes != (expected or [1]):
            raise Refused(f"coremltools gives sizes {sizes}, {expected} are expected", [node.name])
