# SPDX-License-Identifier: BSD-3-Clause
"""What edge programs were made of: a partitioner that wants operators whole, which to_edge has decomposed, gets them
from there, as long as nobody has changed the edge program since."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from executorch.exir.backend._tagging import graph_lines
from executorch.exir.program._delegation import kept_by


@dataclass(frozen=True)
class Source:
    """`programs`: as they were exported, by method; `as_made`: what their edge programs were."""

    programs: dict[str, ExportedProgram]
    as_made: dict[str, Any]

    @staticmethod
    def of(programs: dict[str, ExportedProgram], edge: dict[str, ExportedProgram]) -> Source:
        return Source(programs, {name: _contents(each) for name, each in edge.items()})

    def wanted_whole(
        self, method: str, edge: ExportedProgram, partitioners: list[Any]
    ) -> frozenset[Node]:
        """Nodes of the exported program that the edge program must be made again for; none where it was changed."""
        kept = kept_by(partitioners, self.programs[method])
        return kept if kept and _contents(edge) == self.as_made[method] else frozenset()


def _contents(program: ExportedProgram) -> Any:
    """All that a user may change in place, tensors by their identity."""
    metas = [
        tuple(node.meta)
        for module in program.graph_module.modules()
        if isinstance(module, GraphModule)
        for node in module.graph.nodes
    ]
    data = [
        {name: id(tensor) for name, tensor in holder.items()}
        for holder in (program.state_dict, program.constants)
    ]
    return graph_lines(program.graph_module), metas, data, repr(program.graph_signature)
