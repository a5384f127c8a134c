# SPDX-License-Identifier: BSD-3-Clause
"""`SkeletonBackend`, the ahead-of-time half: one program becomes one payload. The class's name is the backend's id."""

from __future__ import annotations

from torch.export import ExportedProgram

from executorch.backends.skeleton.aot.ops import TABLE
from executorch.backends.skeleton.aot.options import SkeletonOptions
from executorch.backends.skeleton.aot.payload import Payload
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.lowering.payload.options import from_compile_specs


class SkeletonBackend(BackendDetails):
    """Takes the programs that SkeletonPartitioner cuts out."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        from_compile_specs(SkeletonOptions, compile_specs, SkeletonBackend.__name__)
        payload = Payload(TABLE, Constants(edge_program))
        payload.lower(edge_program)
        return payload.result(payload.packed())
