# SPDX-License-Identifier: BSD-3-Clause
# compat
"""The documents' flow: a model is traced, quantized, and becomes an edge program with the backend's operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import ExportedProgram
from torch.fx import GraphModule
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.cadence.aot.passes import edge_passes
from executorch.backends.cadence.aot.quantizer.quantizer import CadenceDefaultQuantizer
from executorch.exir import EdgeCompileConfig, EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir.backend.lowering.quantizer.table_quantizer import TableQuantizer

Inputs = tuple[Any, ...]


def trace(model: nn.Module, inputs: Inputs) -> ExportedProgram:
    return _captured(model.eval(), inputs)


def _captured(model: nn.Module, inputs: Inputs) -> ExportedProgram:
    return torch.export.export(model, inputs, strict=True)


def prepare_pt2(model: nn.Module, inputs: Inputs, quantizer: TableQuantizer) -> GraphModule:
    """With observers, for samples to run through."""
    return prepare_pt2e(trace(model, inputs).module(), quantizer)


def convert_pt2(graph_module: GraphModule) -> GraphModule:
    return convert_pt2e(graph_module)


def get_fake_quant_model(
    model: nn.Module,
    inputs: Inputs,
    quantizer: TableQuantizer,
    calibration_data: Sequence[Inputs] | None = None,
) -> GraphModule:
    """Calibrated with the inputs unless there are data for it."""
    prepared = prepare_pt2(model, inputs, quantizer)
    for sample in calibration_data or [inputs]:
        prepared(*sample)
    return convert_pt2(prepared)


def quantize_pt2(
    model: nn.Module,
    inputs: Inputs,
    quantizer: TableQuantizer | None = None,
    calibration_data: Sequence[Inputs] | None = None,
) -> ExportedProgram:
    own = quantizer or CadenceDefaultQuantizer()
    return _captured(get_fake_quant_model(model, inputs, own, calibration_data), inputs)


def _edge(program: ExportedProgram, passes: list[Any]) -> EdgeProgramManager:
    config = EdgeCompileConfig(
        preserve_ops=[torch.ops.aten.linear.default], _check_ir_validity=False
    )
    return to_edge_transform_and_lower(program, transform_passes=passes, compile_config=config)


def export_to_edge(model: nn.Module, inputs: Inputs) -> EdgeProgramManager:
    return _edge(trace(model, inputs), [])


def quantize_and_export_to_cadence(
    model: nn.Module, inputs: tuple[Tensor, ...]
) -> EdgeProgramManager:
    """By the default quantizer, calibrated with the inputs."""
    program = quantize_pt2(model, inputs)
    return _edge(program, edge_passes("forward", program))
