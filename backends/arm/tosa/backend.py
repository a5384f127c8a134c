# SPDX-License-Identifier: BSD-3-Clause
"""`TOSABackend`: a program becomes a TOSA graph, which the reference model runs. The class's name is its id."""

from __future__ import annotations

from torch.export import ExportedProgram

from executorch.backends.arm.aot.artifacts import graph_of
from executorch.backends.arm.aot.lowering import written
from executorch.backends.arm.common.arm_compile_spec import ArmCompileSpec
from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec


class TOSABackend(BackendDetails):
    """Takes the programs that TOSAPartitioner cuts out."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        spec = TosaCompileSpec._from_list(compile_specs)
        writer = written(edge_program, spec.tosa_spec, TOSABackend.__name__)
        return writer.result(graph_of(writer, spec))

    @staticmethod
    def filter_tosa_compile_specs(compile_spec: ArmCompileSpec) -> TosaCompileSpec:
        """What TOSA needs of a specification."""
        made = TosaCompileSpec(compile_spec.tosa_spec)
        made.dump_intermediate_artifacts_to(compile_spec.path_for_intermediates)
        made.dump_debug_info(compile_spec.tosa_debug_mode)
        made._pipeline_config = compile_spec._pipeline_config
        made._output_order_workaround = compile_spec._output_order_workaround
        made.tosa_dev_mode = compile_spec.tosa_dev_mode
        return made
