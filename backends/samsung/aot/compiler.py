# SPDX-License-Identifier: BSD-3-Clause
"""From programs to graphs, and from graphs to binaries. Without the SDK graphs are left in a folder, and an error says
which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from torch.export import ExportedProgram

from executorch.backends.samsung.aot import door
from executorch.backends.samsung.aot.graph import Graph
from executorch.backends.samsung.aot.ops import TABLE
from executorch.backends.samsung.aot.writer import GraphWriter
from executorch.backends.samsung.serialization.compile_options import options_in
from executorch.exir.backend.backend_details import PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.lowering.external.compiler import (
    ExternalCompiler,
    Options,
    options_of,
    specs_of,
)
from executorch.exir.backend.lowering.external.intermediates import (
    Intermediate,
    keep,
    tags_of,
)


def constants_of(program: ExportedProgram) -> Constants:
    """Calls that read nothing but data are computed when the delegate is compiled."""
    return Constants(program, computed=None)


def written(program: ExportedProgram) -> GraphWriter:
    """All of a program, which has nothing but what the table takes."""
    constants = constants_of(program)
    writer = GraphWriter(TABLE, constants)
    writer.lower(program, TABLE.steps_of(program.graph, constants))
    return writer


def graph_of(program: ExportedProgram) -> Graph:
    """Of the program of one delegate, or an edge program of which the table takes all."""
    return written(program).graph()


@dataclass(frozen=True)
class LiteCore(ExternalCompiler):
    """Its libraries say no version, and the modules over them are built with one."""

    def why_missing(self) -> str:
        return "" if door.is_built() else f"{self.name} is needed, found none; {door.GET_SDK}"


def _compile(program: ExportedProgram, options: Options, place: Path | None) -> bytes:
    specs = specs_of(options)
    graph = graph_of(program)
    if place:
        (place / "graph.npz").write_bytes(graph.pack())
    return door.compiled(graph, bytes(specs[0].value))


COMPILER = LiteCore("Samsung's Exynos AI LiteCore", "LiteCore", "", "", _compile)


def payloads(
    programs: Sequence[ExportedProgram], specs: Sequence[Sequence[CompileSpec]]
) -> list[PreprocessResult]:
    """MissingCompiler, behind the graphs of all, without the SDK."""
    for each in specs:
        options_in(each)
    why_missing = COMPILER.why_missing()
    if why_missing:
        named = zip(tags_of(programs), programs, strict=True)
        files = [Intermediate(f"{tag}.enn.npz", graph_of(each).pack()) for tag, each in named]
        keep(files, "graphs", why_missing)
    return [
        PreprocessResult(COMPILER.payload(program, options_of(each)))
        for program, each in zip(programs, specs, strict=True)
    ]
