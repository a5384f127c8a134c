# SPDX-License-Identifier: BSD-3-Clause
"""From a program to the bytes of its TOSA graph."""

from __future__ import annotations

from pathlib import Path

from torch.export import ExportedProgram

from executorch.backends.arm.aot.artifacts import graph_of
from executorch.backends.arm.aot.ops import table_of
from executorch.backends.arm.aot.writer import TosaWriter
from executorch.backends.arm.common.arm_compile_spec import ArmCompileSpec
from executorch.backends.arm.tosa.specification import TosaSpecification
from executorch.exir.backend.lowering.constants import Constants


def written(program: ExportedProgram, spec: TosaSpecification, backend: str) -> TosaWriter:
    """All of a program, which has nothing but what the table of `spec` takes."""
    constants = Constants(program, computed=None)
    table = table_of(spec)
    writer = TosaWriter(table, constants, spec, backend)
    writer.lower(program, table.steps_of(program.graph, constants))
    return writer


def tosa_of(
    program: ExportedProgram, spec: ArmCompileSpec, backend: str, place: Path | None
) -> bytes:
    """Kept in the folder `place`, where artefacts are, and in that of the specification."""
    graph = graph_of(written(program, spec.tosa_spec, backend), spec)
    if place:
        (place / "out.tosa").write_bytes(graph)
    return graph
