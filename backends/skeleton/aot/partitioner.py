# SPDX-License-Identifier: BSD-3-Clause
"""`SkeletonPartitioner`: everything that a row of the table takes, in the largest pieces that can run in one step."""

from __future__ import annotations

from executorch.backends.skeleton.aot.ops import TABLE
from executorch.backends.skeleton.aot.options import SkeletonOptions
from executorch.backends.skeleton.aot.preprocess import SkeletonBackend
from executorch.exir.backend.lowering.partitioner import TablePartitioner
from executorch.exir.backend.lowering.payload.options import to_compile_specs


class SkeletonPartitioner(TablePartitioner):
    table = TABLE
    backend_id = SkeletonBackend.__name__

    def __init__(self, options: SkeletonOptions | None = None, per_op_mode: bool = False) -> None:
        specs = to_compile_specs(options or SkeletonOptions(), self.backend_id)
        super().__init__(specs, per_op_mode)
