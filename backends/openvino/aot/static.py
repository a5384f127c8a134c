# SPDX-License-Identifier: BSD-3-Clause
"""Data of a program, and calls that read nothing else: OpenVINO computes or packs them when it compiles."""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import Node

from executorch.exir.backend.lowering.constants import Constants


class StaticValues(Constants):
    """The data by node, as Constants; static calls are members, too."""

    def __init__(self, program: ExportedProgram) -> None:
        super().__init__(program)
        self._static: set[Node] = set()
        for node in program.graph.nodes:
            sources = node.all_input_nodes
            if node.op == "call_function" and sources and all(each in self for each in sources):
                self._static.add(node)

    def __contains__(self, node: object) -> bool:
        return super().__contains__(node) or node in self._static
