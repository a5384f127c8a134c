# SPDX-License-Identifier: BSD-3-Clause
"""`QnnBackend`, the ahead-of-time half: programs become context binaries. The class's name is the backend's id."""

from __future__ import annotations

from torch.export import ExportedProgram

from executorch.backends.qualcomm.aot.compiler import FORWARD, payloads
from executorch.backends.qualcomm.serialization.compile_specs import options_in
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.error import ExportError, ExportErrorType


class QnnBackend(BackendDetails):
    """Takes the programs that QnnPartitioner cuts out."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        (result,) = payloads({FORWARD: edge_program}, options_in(compile_specs))
        return result

    @classmethod
    def preprocess_multimethod(
        cls,
        edge_programs: dict[str, list[ExportedProgram]],
        compile_specs: dict[str, list[list[CompileSpec]]],
    ) -> dict[str, list[PreprocessResult]]:
        """The first delegates of all methods are one context, and so on; graphs have the methods' names."""
        counts = {method: len(each) for method, each in edge_programs.items()}
        if len(set(counts.values())) > 1:
            raise ExportError(
                ExportErrorType.NOT_SUPPORTED,
                f"Hybrid compilation is not supported: expected as many delegates in each method, found {counts}",
            )
        results: dict[str, list[PreprocessResult]] = {method: [] for method in edge_programs}
        is_alone = len(edge_programs) == 1
        for place in range(max(counts.values(), default=0)):
            options = options_in(next(iter(compile_specs.values()))[place])
            programs = {method: each[place] for method, each in edge_programs.items()}
            if is_alone:
                (program,) = programs.values()
                programs = {FORWARD: program}
            for method, made in zip(edge_programs, payloads(programs, options), strict=True):
                results[method].append(made)
        return results
