# SPDX-License-Identifier: BSD-3-Clause
"""Programs become context binaries, one for each device, that have all of their graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch.export import ExportedProgram

from executorch.backends.skeleton_compiler.aot.graph import GraphWriter, vendor
from executorch.backends.skeleton_compiler.aot.ops import table_of
from executorch.backends.skeleton_compiler.aot.options import SkeletonCompilerOptions
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.lowering.external.compiler import (
    ExternalCompiler,
    Options,
    Refused,
    specs_of,
)
from executorch.exir.backend.lowering.payload.options import from_compile_specs
from executorch.exir.backend.lowering.payload.schema import PayloadSchema

SCHEMA = PayloadSchema(Path(__file__).parents[1] / "schema" / "skeleton_compiler.fbs")


@dataclass(frozen=True)
class VendorCompiler(ExternalCompiler):
    """Its version is the library's, which is no package of Python."""

    def version(self) -> str:
        try:
            return vendor().version()
        except ImportError:
            return ""

    def how_to_get(self) -> str:
        return "install its SDK, and set SKELETON_COMPILER_LIBRARY to the library in it"


def compiled(programs: Sequence[ExportedProgram], options: SkeletonCompilerOptions) -> list[Any]:
    """A payload for each, whose binaries are those of all. Raises Refused."""
    writers = []
    for number, program in enumerate(programs):
        writer = GraphWriter(table_of(options.devices), Constants(program), f"graph{number}")
        writer.lower(program)
        writer.graph.set_outputs(writer.output_ids())
        writers.append(writer)
    try:
        binaries = [_binary(writers, device, options) for device in options.devices]
    except vendor().Refused as refused:
        raise Refused(str(refused)) from refused
    major, minor = map(int, COMPILER.version().split("."))
    return [
        SCHEMA.make(
            "Payload",
            graph=f"graph{number}",
            version=major << 16 | minor,
            binaries=binaries,
            operators=writer.operations,
        )
        for number, writer in enumerate(writers)
    ]


def _binary(writers: list[GraphWriter], device: str, options: SkeletonCompilerOptions) -> Any:
    graphs = [writer.graph for writer in writers]
    data = vendor().compile(graphs, device, options.compiler.max_bytes)
    return SCHEMA.make("Binary", device=device, bytes=data)


def _compile(program: ExportedProgram, options: Options, place: Path | None) -> bytes:
    chosen = from_compile_specs(SkeletonCompilerOptions, specs_of(options), GraphWriter.backend)
    (payload,) = compiled([program], chosen)
    return SCHEMA.pack(payload)


COMPILER = VendorCompiler("The vendor's compiler", "its SDK", ">=2.1,<3", "", _compile)
