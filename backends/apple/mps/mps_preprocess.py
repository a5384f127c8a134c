# SPDX-License-Identifier: BSD-3-Clause
"""`MPSBackend`, the ahead-of-time half: one program becomes one payload. The class's name is the backend's id."""

from __future__ import annotations

from typing import final

from torch.export import ExportedProgram

from executorch.backends.apple.mps import deprecation
from executorch.backends.apple.mps.aot.ops import TABLE
from executorch.backends.apple.mps.aot.options import MpsOptions
from executorch.backends.apple.mps.aot.payload import MpsWriter
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.lowering.payload.options import from_compile_specs

deprecation.warn("backend")


@final
class MPSBackend(BackendDetails):
    """Takes the programs that MPSPartitioner cuts out."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        options = from_compile_specs(MpsOptions, compile_specs, MPSBackend.__name__)
        writer = MpsWriter(TABLE, Constants(edge_program), options)
        writer.lower(edge_program)
        return writer.result(writer.payload())
