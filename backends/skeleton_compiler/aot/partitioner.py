# SPDX-License-Identifier: BSD-3-Clause
"""`SkeletonCompilerPartitioner`: what the table and the vendor's compiler take, in the largest pieces that can run in
one step."""

from __future__ import annotations

from torch.export import ExportedProgram

from executorch.backends.skeleton_compiler.aot.compiler import COMPILER
from executorch.backends.skeleton_compiler.aot.ops import TABLE, table_of
from executorch.backends.skeleton_compiler.aot.options import SkeletonCompilerOptions
from executorch.backends.skeleton_compiler.aot.preprocess import SkeletonCompilerBackend
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.lowering.external.partitioner import ExternalPartitioner
from executorch.exir.backend.lowering.payload.options import to_compile_specs
from executorch.exir.backend.lowering.quantized import is_dequantize
from executorch.exir.backend.lowering.quantized_steps import copy_for_each_reader


class SkeletonCompilerPartitioner(ExternalPartitioner):
    table = TABLE
    backend_id = SkeletonCompilerBackend.__name__
    compiler = COMPILER

    def __init__(
        self, options: SkeletonCompilerOptions | None = None, per_op_mode: bool = False
    ) -> None:
        options = options or SkeletonCompilerOptions()
        super().__init__(to_compile_specs(options, self.backend_id), per_op_mode)
        self.table = table_of(options.devices)  # type: ignore[misc]  # of each instance

    def analyze(self, program: ExportedProgram) -> Constants:
        """Conditions ask the vendor."""
        self.compiler.require()
        return super().analyze(program)

    def prepare(self, exported_program: ExportedProgram) -> None:
        """What dequantizes is part of a pattern, where nothing else reads it."""
        copy_for_each_reader(exported_program, is_dequantize)
        super().prepare(exported_program)
