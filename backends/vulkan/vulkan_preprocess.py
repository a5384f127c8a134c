# SPDX-License-Identifier: BSD-3-Clause
"""`VulkanBackend`, the ahead-of-time half: one program becomes one payload. The class's name is the backend's id."""

from __future__ import annotations

from typing import final

from torch.export import ExportedProgram

from executorch.backends.vulkan.aot.known import known_values
from executorch.backends.vulkan.aot.ops import TABLE
from executorch.backends.vulkan.aot.options import options_in, parse_compile_spec
from executorch.backends.vulkan.aot.passes import apply_passes
from executorch.backends.vulkan.aot.payload import VulkanWriter
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec

__all__ = ["VulkanBackend", "apply_passes", "parse_compile_spec"]


@final
class VulkanBackend(BackendDetails):
    """Takes the programs that VulkanPartitioner cuts out."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        options = options_in(compile_specs)
        program = apply_passes(edge_program)
        writer = VulkanWriter(TABLE, known_values(program), options)
        writer.lower(program)
        return writer.preprocessed()
