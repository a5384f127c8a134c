# SPDX-License-Identifier: BSD-3-Clause
"""Images whose channels are not last, where a row wants them so: conv(x)  ->  copy(conv(copy(x))), in int8."""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import Graph, Node

from executorch.backends.cortex_m.passes.calls import IMAGES
from executorch.backends.cortex_m.passes.elementwise import INNERMOST
from executorch.backends.cortex_m.passes.table import TABLE
from executorch.exir.backend.lowering.kernels.memory_order import ChannelsLastPass
from executorch.exir.backend.lowering.kernels.rows import call_of
from executorch.exir.backend.lowering.table_pass import TablePass


class ChannelsLast(ChannelsLastPass):
    """For calls that a row refuses for the order of their image alone."""

    def __init__(self, exported_program: ExportedProgram | None = None) -> None:
        self._table = TablePass(TABLE, exported_program)
        super().__init__(self._wanting)

    def _wanting(self, graph: Graph) -> set[Node]:
        refused = [(call_of(step), reason) for step, reason in self._table.refused(graph)]
        return {
            call
            for call, reason in refused
            if reason == IMAGES.reason or (reason == INNERMOST.reason and _is_over_channels(call))
        }


def _is_over_channels(softmax: Node) -> bool:
    rank = softmax.meta["val"].dim()
    return rank == 4 and softmax.args[1] % rank == 1
