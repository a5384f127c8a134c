# SPDX-License-Identifier: BSD-3-Clause
"""Whether two graphs compute the same in the same way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch.fx import GraphModule, Node


def is_same_node(node_left: Iterable[Node], node_right: Iterable[Node]) -> bool:
    """True when the nodes, one by one, are the same calls of the same things; names do not matter."""
    left, right = list(node_left), list(node_right)
    place = ({n: i for i, n in enumerate(left)}, {n: i for i, n in enumerate(right)})
    return len(left) == len(right) and all(
        one.op == other.op
        and (one.op == "placeholder" or one.target == other.target)
        and _shape(one, place[0]) == _shape(other, place[1])
        for one, other in zip(left, right)
    )


def _shape(node: Node, place: dict[Node, int]) -> str:
    """The arguments, nodes as their places."""

    def named(value: Any) -> Any:
        if isinstance(value, Node):
            return f"%{place.get(value, '')}"
        if isinstance(value, list | tuple):
            return [named(item) for item in value]
        if isinstance(value, dict):
            return {key: named(item) for key, item in value.items()}
        return value

    return "" if node.op == "placeholder" else repr((named(node.args), named(node.kwargs)))


def is_identical_graph(graph_left: GraphModule, graph_right: GraphModule) -> bool:
    """True when both have the same nodes in the same order, branches included."""
    children = [
        [child for child in module.children() if isinstance(child, GraphModule)]
        for module in (graph_left, graph_right)
    ]
    return (
        is_same_node(graph_left.graph.nodes, graph_right.graph.nodes)
        and len(children[0]) == len(children[1])
        and all(is_identical_graph(*pair) for pair in zip(*children))
    )
