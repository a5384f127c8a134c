# SPDX-License-Identifier: BSD-3-Clause
"""A backend that is ExecuTorch itself: the blob is a program file, which its runtime half (backends/demo) loads and
runs. Whatever the CPU kernels run can be delegated to it, delegates included."""

from __future__ import annotations

from torch.export import ExportedProgram

from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.capture._config import ExecutorchBackendConfig
from executorch.exir.dialects.edge._ops import EdgeOpOverload
from executorch.exir.program import EdgeProgramManager
from executorch.exir.retrace.undelegated import decompose_undelegated


class ExecutorBackend(BackendDetails):
    """Takes no compile specs."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        targets = {node.target for node in edge_program.graph.nodes}
        ops = {target._op for target in targets if isinstance(target, EdgeOpOverload)}
        decompose_undelegated(edge_program, ops, preserve=(), skip_dim_order=False)
        config = ExecutorchBackendConfig(extract_delegate_segments=False)
        manager = EdgeProgramManager(edge_program).to_executorch(config)
        return PreprocessResult(manager.buffer)
