# SPDX-License-Identifier: BSD-3-Clause
"""`AotiCpuBackend` and its partitioner: the way of AOTInductor's backends on the processor itself, which every machine
has that exports."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, final

from torch.export import ExportedProgram
from torch.fx import Node

from executorch.backends.aoti import host_compiler, inductor
from executorch.backends.aoti.aoti_backend import AotiBackend
from executorch.backends.aoti.aoti_partitioner import AotiPartitioner
from executorch.backends.aoti.fallbacks import why_not_compiled
from executorch.backends.aoti.passes.replace_int64_floor_div_with_float import (
    ReplaceInt64FloorDivWithFloatPass,
)
from executorch.exir.backend.backend_details import BackendDetails
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.error import ExportError, ExportErrorType

MARCH = "march"
# runtime/cpu_shims.cpp has them.
_KERNELS = ("addmm_out", "bmm_out", "convolution", "mm_out")


@final
class AotiCpuBackend(AotiBackend, BackendDetails):
    """Compile spec `march`: what g++ is told of the processor; without it, any processor of its kind runs the code."""

    @classmethod
    def get_device_name(cls) -> str:
        return "cpu"

    @classmethod
    def get_supported_fallback_kernels(cls) -> Collection[str]:
        return [f"aoti_torch_cpu_{name}" for name in _KERNELS]

    @classmethod
    def get_aoti_compile_options(cls, compile_specs: Sequence[CompileSpec]) -> dict[str, Any]:
        """Sources only, which host_compiler compiles; one thread, as the runtime has a pool of its own."""
        return {
            **inductor.OPTIONS,
            "aot_inductor.package_cpp_only": True,
            "aot_inductor.precompile_headers": False,
            "cpp.simdlen": 1,
            "cpp.threads": 1,
            # A convolution's weights are packed for oneDNN otherwise, which the runtime has not.
            "freezing": False,
        }

    @classmethod
    def get_custom_passes(cls, compile_specs: Sequence[CompileSpec]) -> list[Any]:
        return [ReplaceInt64FloorDivWithFloatPass()]

    @classmethod
    def move_program_to_device(
        cls, edge_program: ExportedProgram, device: str, compile_specs: Sequence[CompileSpec]
    ) -> ExportedProgram:
        return edge_program

    @classmethod
    def check_ready(cls, compile_specs: Sequence[CompileSpec]) -> None:
        if not host_compiler.find_compiler():
            raise ExportError(
                ExportErrorType.NOT_SUPPORTED,
                "AotiCpuBackend compiles with g++, which is not installed: install it (apt-get install g++), or "
                "leave AotiCpuPartitioner out",
            )

    @classmethod
    def link(cls, files: list[str], compile_specs: Sequence[CompileSpec]) -> tuple[str, str]:
        march = {spec.key: bytes(spec.value).decode() for spec in compile_specs}.get(MARCH, "")
        library = host_compiler.link(files, march)
        return inductor.library_and_constants([*files, library])


@final
class AotiCpuPartitioner(AotiPartitioner):
    def __init__(self, compile_spec: Sequence[CompileSpec] = ()) -> None:
        super().__init__(AotiCpuBackend.__name__, compile_spec)

    def why_not(self, node: Node) -> str:
        return why_not_compiled(node, AotiCpuBackend.get_supported_fallback_kernels())
