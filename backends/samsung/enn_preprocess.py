# SPDX-License-Identifier: BSD-3-Clause
"""`EnnBackend`, the ahead-of-time half. The class's name is the backend's id."""

from __future__ import annotations

from torch.export import ExportedProgram

from executorch.backends.samsung.aot.compiler import payloads
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec


class EnnBackend(BackendDetails):
    """Takes the programs that EnnPartitioner cuts out."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        (result,) = payloads([edge_program], [compile_specs])
        return result

    @classmethod
    def preprocess_multimethod(
        cls,
        edge_programs: dict[str, list[ExportedProgram]],
        compile_specs: dict[str, list[list[CompileSpec]]],
    ) -> dict[str, list[PreprocessResult]]:
        """All at once, so that without the SDK the graphs of all are left."""
        programs = [each for of_method in edge_programs.values() for each in of_method]
        specs = [each for method in edge_programs for each in compile_specs[method]]
        made = iter(payloads(programs, specs))
        return {method: [next(made) for _ in each] for method, each in edge_programs.items()}
