# SPDX-License-Identifier: BSD-3-Clause
"""Backends whose programs are compiled in one go."""

from __future__ import annotations

from torch.export import ExportedProgram

from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec


class CompiledTogether(BackendDetails):
    """So that without the compiler what it was to be given is left of all programs, not of the first alone."""

    @staticmethod
    def payloads(
        programs: list[ExportedProgram], specs: list[list[CompileSpec]]
    ) -> list[PreprocessResult]:
        """One for each program; a subclass has its own."""
        raise NotImplementedError

    @classmethod
    def preprocess(
        cls, edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        (result,) = cls.payloads([edge_program], [compile_specs])
        return result

    @classmethod
    def preprocess_multimethod(
        cls,
        edge_programs: dict[str, list[ExportedProgram]],
        compile_specs: dict[str, list[list[CompileSpec]]],
    ) -> dict[str, list[PreprocessResult]]:
        programs = [each for of_method in edge_programs.values() for each in of_method]
        specs = [each for method in edge_programs for each in compile_specs[method]]
        made = iter(cls.payloads(programs, specs))
        return {method: [next(made) for _ in each] for method, each in edge_programs.items()}
