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
from executorch.exir.backend.lowering.options import from_compile_specs
from executorch.exir.error import ExportError, ExportErrorType


class SkeletonBackend(BackendDetails):
    """Takes the programs that SkeletonPartitioner cuts out."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        from_compile_specs(SkeletonOptions, compile_specs, SkeletonBackend.__name__)
        constants = Constants(edge_program)
        payload = Payload(edge_program)
        for node in edge_program.graph.nodes:
            if node.op == "call_function":
                reason = TABLE.why_not(node, constants)
                if reason:
                    raise _cannot(f"{node.name} ({node.target}): {reason}")
                TABLE.row(node).lower(payload, node)
        outputs = list(edge_program.graph.output_node().args[0])
        return PreprocessResult(payload.finish(outputs), data_store_output=payload.store.output())


def _cannot(reason: str) -> ExportError:
    return ExportError(
        ExportErrorType.NOT_SUPPORTED,
        f"SkeletonBackend cannot compile this program: {reason}. Use SkeletonPartitioner, which leaves out what it "
        "does not take",
    )
