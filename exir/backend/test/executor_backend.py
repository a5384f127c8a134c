# SPDX-License-Identifier: BSD-3-Clause
"""A backend that is ExecuTorch itself: the blob is a program file, which its runtime half (backends/demo) loads and
runs. Whatever the CPU kernels run can be delegated to it, delegates included."""

from __future__ import annotations

from torch.export import ExportedProgram

from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec


class ExecutorBackend(BackendDetails):
    """Takes no compile specs."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        from executorch.exir.capture._config import ExecutorchBackendConfig
        from executorch.exir.program import EdgeProgramManager

        config = ExecutorchBackendConfig(extract_delegate_segments=False)
        manager = EdgeProgramManager(edge_program).to_executorch(config)
        return PreprocessResult(manager.buffer)
