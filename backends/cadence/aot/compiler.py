# SPDX-License-Identifier: BSD-3-Clause
"""The documents' flow: a model is traced, quantized, and becomes an edge program with the backend's operators, then a
file. `inputs` stand for all that the model is called with."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.fx import GraphModule
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e

from executorch.backends.cadence.aot.memory_planning import CadenceMemoryPlanning
from executorch.backends.cadence.aot.passes import cadence_passes
from executorch.backends.cadence.aot.programs import (
    MemoryConfig,
    get_default_memory_config,
    print_ops_info,
)
from executorch.backends.cadence.aot.quantizer.quantizer import (
    CadenceDefaultQuantizer,
    CadenceQuantizer,
)
from executorch.devtools import generate_etrecord
from executorch.exir import (
    EdgeCompileConfig,
    EdgeProgramManager,
    ExecutorchBackendConfig,
    ExecutorchProgramManager,
    to_edge_transform_and_lower,
)
from executorch.exir.passes.sym_shape_eval_pass import ConstraintBasedSymShapeEvalPass

Inputs = tuple[Any, ...]
_log = logging.getLogger(__name__)
_ATEN = torch.ops.aten
default_quantizer = CadenceDefaultQuantizer()
TO_EDGE_PRESERVE_OPS: list[OpOverload] = [_ATEN.rms_norm.default]
TO_EDGE_OP_EXCEPTION_LIST: list[OpOverload] = [
    _ATEN._linalg_det.default,
    _ATEN._linalg_svd.default,
    _ATEN._native_batch_norm_legit_functional.default,
    _ATEN.linear.default,
    _ATEN.linalg_vector_norm.default,
    _ATEN.unfold.default,
    _ATEN.angle.default,
    _ATEN.rms_norm.default,
]
# Decomposed only where an own operator does not take them.
_KEPT = [_ATEN.linear.default]


def _shown(graph_module: GraphModule, dump_graphs: bool) -> None:
    if dump_graphs:
        _log.info("%s", graph_module.graph)


def trace(
    model: nn.Module,
    inputs: Inputs,
    dump_graphs: bool = False,
    ops_to_keep: list[OpOverload] | None = None,
    is_qat: bool = False,
) -> ExportedProgram:
    """Of a model in evaluation, or in training where `is_qat`. Composed operators stay whole, `ops_to_keep` and all
    others, until the edge program is made."""
    model.train(is_qat)
    program = torch.export.export(model, inputs, strict=True)
    _shown(program.graph_module, dump_graphs)
    return program


def prepare_traced_pt2(
    program: ExportedProgram,
    quantizer: CadenceQuantizer,
    dump_graphs: bool = False,
    is_qat: bool = False,
) -> GraphModule:
    """With observers, for samples to run through."""
    prepare = prepare_qat_pt2e if is_qat else prepare_pt2e
    prepared = prepare(program.module(), quantizer)
    _shown(prepared, dump_graphs)
    return prepared


def prepare_pt2(
    model: nn.Module,
    inputs: Inputs,
    quantizer: CadenceQuantizer,
    dump_graphs: bool = False,
    is_qat: bool = False,
) -> GraphModule:
    kept = quantizer.get_ops_to_preserve_from_decomposition()
    program = trace(model, inputs, dump_graphs, kept, is_qat)
    return prepare_traced_pt2(program, quantizer, dump_graphs, is_qat)


def convert_pt2(graph_module: GraphModule, dump_graphs: bool = False) -> GraphModule:
    converted = convert_pt2e(graph_module)
    _shown(converted, dump_graphs)
    return converted


def get_fake_quant_model(
    model: nn.Module,
    inputs: Inputs,
    quantizer: CadenceQuantizer,
    calibration_data: Sequence[Inputs] | None = None,
    dump_graphs: bool = False,
) -> GraphModule:
    """Calibrated with the inputs unless there are data for it."""
    prepared = prepare_pt2(model, inputs, quantizer, dump_graphs)
    for sample in calibration_data or [inputs]:
        prepared(*sample)
    return convert_pt2(prepared, dump_graphs)


def apply_pre_edge_transform_passes(
    converted_program: ExportedProgram, quantizer: CadenceQuantizer
) -> ExportedProgram:
    """Nothing to do before the edge program: the table rewrites that. The quantizer is asked for what it is."""
    if not isinstance(quantizer, CadenceQuantizer):
        raise TypeError(
            f"apply_pre_edge_transform_passes: a CadenceQuantizer is expected, found {type(quantizer).__name__}"
        )
    return converted_program


def quantize_pt2(
    model: nn.Module,
    inputs: Inputs,
    quantizer: CadenceQuantizer | None = None,
    calibration_data: Sequence[Inputs] | None = None,
    dump_graphs: bool = False,
    quant_input_args: Sequence[str] | None = None,
) -> ExportedProgram:
    if quant_input_args:
        raise NotImplementedError(
            f"quantize_pt2: inputs that arrive quantized are not supported, found quant_input_args={quant_input_args}; "
            "give float inputs, and quantize them outside with the numbers of the program's first calls"
        )
    own = quantizer or CadenceDefaultQuantizer()
    converted = get_fake_quant_model(model, inputs, own, calibration_data, dump_graphs)
    return apply_pre_edge_transform_passes(trace(_evaluated(converted), inputs, dump_graphs), own)


def _evaluated(converted: GraphModule) -> nn.Module:
    """A converted model refuses eval(), and is in evaluation."""
    converted.train = lambda mode=True: converted  # type: ignore[method-assign]
    return converted


# ---- Edge programs ----


def _lower_ep_to_edge(
    expo_program: ExportedProgram,
    dump_graphs: bool = False,
    constant_methods: dict[str, object] | None = None,
    core_aten_exceptions: list[OpOverload] | None = None,
    passes: list[Any] | None = None,
) -> EdgeProgramManager:
    config = EdgeCompileConfig(
        _skip_dim_order=True,
        _core_aten_ops_exception_list=[*TO_EDGE_OP_EXCEPTION_LIST, *(core_aten_exceptions or ())],
        preserve_ops=[*TO_EDGE_PRESERVE_OPS, *_KEPT],
    )
    edge = to_edge_transform_and_lower(
        expo_program,
        transform_passes=passes or [],
        compile_config=config,
        constant_methods=constant_methods,
    )
    _shown(edge.exported_program().graph_module, dump_graphs)
    return edge


def _lower_ep_to_cadence(
    program: ExportedProgram, dump_graphs: bool = False, opt_level: int = 1
) -> EdgeProgramManager:
    edge = _lower_ep_to_edge(program, dump_graphs, passes=cadence_passes(program, opt_level))
    print_ops_info(program.graph_module, edge.exported_program().graph_module)
    return edge


def export_to_edge(
    model: nn.Module,
    inputs: Inputs,
    dump_graphs: bool = False,
    constant_methods: dict[str, object] | None = None,
    core_aten_exceptions: list[OpOverload] | None = None,
) -> EdgeProgramManager:
    program = trace(model, inputs, dump_graphs)
    return _lower_ep_to_edge(program, dump_graphs, constant_methods, core_aten_exceptions)


def quantize_and_export_to_edge(
    model: nn.Module,
    inputs: Inputs,
    quantizer: CadenceQuantizer | None = None,
    dump_graphs: bool = False,
    constant_methods: dict[str, object] | None = None,
    calibration_data: Sequence[Inputs] | None = None,
    core_aten_exceptions: list[OpOverload] | None = None,
) -> EdgeProgramManager:
    program = quantize_pt2(model, inputs, quantizer, calibration_data, dump_graphs)
    return _lower_ep_to_edge(program, dump_graphs, constant_methods, core_aten_exceptions)


def export_to_cadence(
    model: nn.Module, inputs: Inputs, dump_graphs: bool = False, opt_level: int = 1
) -> EdgeProgramManager:
    return _lower_ep_to_cadence(trace(model, inputs, dump_graphs), dump_graphs, opt_level)


def quantize_and_export_to_cadence(
    model: nn.Module, inputs: Inputs, dump_graphs: bool = False, opt_level: int = 1
) -> EdgeProgramManager:
    """By the default quantizer, calibrated with the inputs."""
    program = quantize_pt2(model, inputs, dump_graphs=dump_graphs)
    return _lower_ep_to_cadence(program, dump_graphs, opt_level)


# ---- Files ----


def _lower_ep_to_cadence_gen_etrecord(
    ep: ExportedProgram,
    output_dir: str | None = None,
    opt_level: int = 1,
    mem_algo: int = 0,
    alloc_graph_input: bool = True,
    alloc_graph_output: bool = True,
    memory_config: MemoryConfig | None = None,
    dump_graphs: bool = False,
) -> ExecutorchProgramManager:
    edge = _lower_ep_to_cadence(ep, dump_graphs, opt_level)
    planning = CadenceMemoryPlanning(
        memory_config or get_default_memory_config(),
        opt_level,
        mem_algo,
        alloc_graph_input,
        alloc_graph_output,
    )
    made = edge.to_executorch(
        ExecutorchBackendConfig(
            memory_planning_pass=planning,
            emit_stacktrace=False,
            extract_delegate_segments=False,
            sym_shape_eval_pass=ConstraintBasedSymShapeEvalPass(),
        )
    )
    if output_dir is None:
        _log.warning("No output directory provided, skipping ETRecord generation")
    else:
        generate_etrecord(str(Path(output_dir) / "etrecord.bin"), edge, made)
    return made


def export_to_executorch_gen_etrecord(
    model: nn.Module,
    inputs: Inputs,
    output_dir: str | None = None,
    opt_level: int = 1,
    mem_algo: int = 0,
    alloc_graph_input: bool = True,
    alloc_graph_output: bool = True,
    memory_config: MemoryConfig | None = None,
    dump_graphs: bool = False,
) -> ExecutorchProgramManager:
    """Without quantization."""
    program = trace(model, inputs, dump_graphs)
    return _lower_ep_to_cadence_gen_etrecord(
        program, output_dir, opt_level, mem_algo, alloc_graph_input, alloc_graph_output, memory_config, dump_graphs
    )  # fmt: skip
