# SPDX-License-Identifier: BSD-3-Clause
"""The ahead-of-time half of the backend: one program becomes one payload; weights are named data."""

from __future__ import annotations

from typing import Any

from torch.export import ExportedProgram

from executorch.backends.xnnpack.aot.batches import unfold_batches
from executorch.backends.xnnpack.aot.constants import Constants
from executorch.backends.xnnpack.aot.graph_builder import VISITORS, GraphBuilder
from executorch.backends.xnnpack.aot.ops import TABLE
from executorch.backends.xnnpack.aot.options import XnnpackOptions
from executorch.backends.xnnpack.aot.padding import fold_sides
from executorch.backends.xnnpack.aot.quantized_steps import quantized_steps_of
from executorch.backends.xnnpack.aot.steps import Step
from executorch.backends.xnnpack.serialization.graph import serialize
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.payload.options import from_compile_specs
from executorch.exir.backend.lowering.quantized_values import check_quantized_values
from executorch.exir.graph_facts import op_name


class XnnpackBackend(BackendDetails):
    """Takes the programs that XnnpackPartitioner cuts out."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        from_compile_specs(XnnpackOptions, compile_specs, XnnpackBackend.__name__)
        fold_sides(edge_program)
        unfold_batches(edge_program)
        constants = Constants(edge_program)
        check_quantized_values(edge_program, constants)
        builder = _Visiting(TABLE, constants)
        made_with = (edge_program, {}, builder.store.named_data)
        builder.visitors = {name: make(*made_with) for name, make in VISITORS.items()}
        builder.lower(edge_program, quantized_steps_of(edge_program.graph, constants))
        return builder.result(serialize(builder.graph()))


class _Visiting(GraphBuilder):
    """Lets visitors write what no row does: configs of the user's claim it."""

    visitors: dict[str, Any]

    def lower_step(self, step: Step) -> None:
        name = op_name(step.head)
        if name not in TABLE and name in self.visitors:
            self.visit(step.head, self.visitors[name].define_node)
        else:
            super().lower_step(step)
