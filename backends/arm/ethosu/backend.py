# SPDX-License-Identifier: BSD-3-Clause
"""`EthosUBackend`, the ahead-of-time half: TOSA, then Vela. The class's name is the backend's id."""

from __future__ import annotations

from torch.export import ExportedProgram

from executorch.backends.arm.arm_vela import VELA
from executorch.backends.arm.ethosu.compile_spec import EthosUCompileSpec
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.external.compiler import options_of


class EthosUBackend(BackendDetails):
    """Takes the programs that EthosUPartitioner cuts out."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        EthosUCompileSpec._from_list(compile_specs)
        return PreprocessResult(VELA.payload(edge_program, options_of(compile_specs)))
