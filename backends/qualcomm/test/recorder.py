# SPDX-License-Identifier: BSD-3-Clause
"""A door that takes all but what it is told, and keeps graphs: what tests see of an export."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import torch
from torch.export import export
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.qualcomm.aot.door import using
from executorch.backends.qualcomm.aot.graph import Graph
from executorch.backends.qualcomm.partition.qnn_partitioner import QnnPartitioner
from executorch.backends.qualcomm.quantizer.quantizer import QnnQuantizer, QuantDtype
from executorch.backends.qualcomm.serialization.qc_schema import QnnExecuTorchOptions
from executorch.backends.qualcomm.utils.utils import (
    QcomChipset,
    generate_htp_compiler_spec,
    generate_qnn_executorch_compiler_spec,
)
from executorch.exir import EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.external.compiler import Refused
from executorch.exir.graph_facts import op_name


@dataclass
class Recorder:
    """`refused`: types of operators that it does not take; `fails`: why nothing is compiled."""

    refused: Collection[str] = ()
    fails: str = ""
    contexts: list[list[Graph]] = field(default_factory=list)
    asked: list[Graph] = field(default_factory=list)

    def why_missing(self, options: QnnExecuTorchOptions) -> str:
        return ""

    def why_refused(self, graph: Graph, options: QnnExecuTorchOptions) -> str:
        self.asked.append(graph)
        found = [each.type for each in graph.operators if each.type in self.refused]
        return f"the SDK does not take {found[0]}" if found else ""

    def compile(self, graphs: Sequence[Graph], options: QnnExecuTorchOptions) -> bytes:
        if self.fails:
            raise Refused(self.fails)
        self.contexts.append(list(graphs))
        return b"context %d" % len(self.contexts)

    @property
    def graphs(self) -> list[Graph]:
        return [graph for each in self.contexts for graph in each]


def specs(use_fp16: bool = True) -> list[CompileSpec]:
    options = generate_htp_compiler_spec(use_fp16)
    return generate_qnn_executorch_compiler_spec(QcomChipset.SM8650, options)


def quantizer(dtype: QuantDtype = QuantDtype.use_8a8w, is_per_channel: bool = True) -> QnnQuantizer:
    made = QnnQuantizer()
    made.set_default_quant_config(
        dtype, is_conv_per_channel=is_per_channel, is_linear_per_channel=is_per_channel
    )
    return made


def quantized(
    model: torch.nn.Module,
    inputs: tuple[torch.Tensor, ...],
    dtype: QuantDtype = QuantDtype.use_8a8w,
    is_per_channel: bool = True,
) -> torch.nn.Module:
    """Calibrated on the inputs."""
    captured = export(model, inputs, strict=True).module()
    prepared = prepare_pt2e(captured, quantizer(dtype, is_per_channel))
    prepared(*inputs)
    return convert_pt2e(prepared)


def lowered(
    model: torch.nn.Module,
    inputs: tuple[torch.Tensor, ...],
    door: Recorder,
    **options: object,
) -> EdgeProgramManager:
    """`options`: of the partitioner."""
    with using(door):
        partitioner = QnnPartitioner(specs(), **options)
        program = export(model, inputs, strict=True)
        return to_edge_transform_and_lower(program, partitioner=[partitioner])


def left(manager: EdgeProgramManager) -> list[str]:
    """Operators of the program that are no delegate's."""
    nodes = manager.exported_program().graph.nodes
    return [name for name in map(op_name, nodes) if name]
