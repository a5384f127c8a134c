# SPDX-License-Identifier: BSD-3-Clause
"""`TOSABackend`: a program becomes a TOSA graph, which the reference model runs. The class's name is its id."""

from __future__ import annotations

from pathlib import Path

from torch.export import ExportedProgram

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
        payload = writer.packed()
        keep(payload, spec, "tosa")
        return writer.result(payload)

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


def keep(payload: bytes, spec: ArmCompileSpec, suffix: str) -> None:
    """In the folder for what comes between, if one is named; files are numbered."""
    folder = spec.get_intermediate_path()
    if folder is None:
        return
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    count = len(list(place.glob(f"output_*.{suffix}")))
    (place / f"output_tag{count}_{spec.tosa_spec}.{suffix}").write_bytes(payload)
