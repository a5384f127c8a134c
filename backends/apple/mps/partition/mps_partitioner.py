# SPDX-License-Identifier: BSD-3-Clause
"""`MPSPartitioner`: what the table takes, in the largest pieces that can run in one step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from torch.fx import Node

from executorch.backends.apple.mps import deprecation
from executorch.backends.apple.mps.aot.ops import TABLE
from executorch.backends.apple.mps.mps_preprocess import MPSBackend
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.lowering.partitioner import TablePartitioner
from executorch.exir.graph_facts import op_name

deprecation.warn("partitioner")


@final
class MPSPartitioner(TablePartitioner):
    """`compile_specs`: `use_fp16`, one byte; floats are computed in half precision unless it is 0."""

    table = TABLE
    backend_id = MPSBackend.__name__
    joins_all = True  # each delegate is work of its own for the GPU

    def __init__(self, compile_specs: Sequence[CompileSpec] = ()) -> None:
        deprecation.warn("partitioner")
        super().__init__(compile_specs)

    def why_not_worthwhile(self, nodes: list[Node]) -> str:
        rows = (self.table.get(op_name(node)) for node in nodes)
        return "" if any(row is not None and row.nodes for row in rows) else "it is only copied"
