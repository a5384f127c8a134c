# SPDX-License-Identifier: BSD-3-Clause
"""From a program to the bytes of its TFLite model, and what its inputs and outputs are."""

from __future__ import annotations

from dataclasses import dataclass

from torch.export import ExportedProgram

from executorch.backends.nxp.aot.graph import Graph
from executorch.backends.nxp.aot.ops import TABLES
from executorch.backends.nxp.aot.quantization_check import check_quantization
from executorch.backends.nxp.aot.writer import TfliteWriter
from executorch.backends.nxp.backend.data_format import DataFormat
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.lowering.layout import NHWC

Formats = dict[str, dict[str, DataFormat]]


@dataclass(frozen=True)
class Lowered:
    """`formats`: of inputs and outputs by name, in the order of the delegate's arguments."""

    writer: TfliteWriter
    graph: Graph
    tflite: bytes
    formats: Formats


def lowered(program: ExportedProgram, target: str, channels_last_outside: bool = False) -> Lowered:
    """All of a program, which has nothing but what the table takes."""
    constants, table = Constants(program, computed=None), TABLES[target]
    writer = TfliteWriter(table, constants, channels_last_outside)
    writer.lower(program, table.steps_of(program.graph, constants))
    graph, *layouts = writer.graph()
    check_quantization(graph)
    places = {"inputs": graph.inputs, "outputs": graph.outputs}
    formats = {
        name: {
            tensor: _format(layout)
            for tensor, layout in zip(graph.named(places[name]), of_values, strict=True)
        }
        for name, of_values in zip(places, layouts, strict=True)
    }
    return Lowered(writer, graph, graph.pack(), formats)


def _format(layout: str) -> DataFormat:
    return DataFormat.CHANNELS_LAST if layout == NHWC else DataFormat.FORMATLESS
