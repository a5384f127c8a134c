# SPDX-License-Identifier: BSD-3-Clause
"""`VgfBackend`, the ahead-of-time half: TOSA, then the model converter. The payload is a VGF file, as it is."""

from __future__ import annotations

from torch.export import ExportedProgram

from executorch.backends.arm.vgf.compile_spec import VgfCompileSpec
from executorch.backends.arm.vgf.model_converter import (  # noqa: F401, documented here
    CONVERTER,
    vgf_compile,
)
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.external.compiler import options_of

VGF_BACKEND_NAME = "VgfBackend"


class VgfBackend(BackendDetails):
    """Takes the programs that VgfPartitioner cuts out."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        VgfCompileSpec._from_list(compile_specs)
        return PreprocessResult(CONVERTER.payload(edge_program, options_of(compile_specs)))
