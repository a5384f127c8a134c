# SPDX-License-Identifier: BSD-3-Clause
"""What a delegate computes once, when it is compiled: calls that the table takes and that read nothing else."""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import Node

from executorch.backends.openvino.aot.ops import TABLE
from executorch.exir.backend.lowering.constants import Constants


class StaticValues(Constants):
    """The data by node, and such calls. They go into delegates as others do: OpenVINO computes them, or packs what they
    give. What the table refuses is computed while the program runs, and so is what reads it."""

    def __init__(self, program: ExportedProgram) -> None:
        super().__init__(program)
        for node in program.graph.nodes:
            is_static = all(each in self for each in node.all_input_nodes)
            if is_static and not TABLE.why_not(node, self):
                self._computed[node] = None

    def is_computed(self, node: Node) -> bool:
        return False
