# SPDX-License-Identifier: BSD-3-Clause
# compat
"""A graph together with the module that owns its attributes."""

from __future__ import annotations

from typing import Any

from torch.fx import Graph, GraphModule, Node
from torch.fx.graph import _InsertPoint


class ExportGraph:
    """Edits `graph`; attributes are read from `owning_module`."""

    def __init__(self, owning_module: GraphModule, graph: Graph) -> None:
        self.owning_module = owning_module
        self.graph = graph

    @property
    def nodes(self) -> Any:
        return self.graph.nodes

    def erase_node(self, to_erase: Node) -> None:
        self.graph.erase_node(to_erase)

    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        return self.graph.inserting_before(n)

    def get_attr(self, qualified_name: str, type_expr: Any | None = None) -> Node:
        return self.graph.get_attr(qualified_name, type_expr)
