# SPDX-License-Identifier: BSD-3-Clause
"""Nodes of two files beside each other: those of one alone, and what is another in both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from executorch.devtools.commands.view.graph import Graph, GraphNode

_SHOWN = {"backend": "backend", "outputs": "gives", "num_bytes": "bytes", "limits": "range"}
Key = tuple[str, str, str, int]


def mark_changes(
    before: Sequence[Graph], after: Sequence[Graph], titles: Sequence[str]
) -> tuple[list[Graph], list[Graph]]:
    """A node's match is that of the same method, module and operator with the same number among these."""
    keys = [[_keys(graph) for graph in side] for side in (before, after)]
    known = [
        {
            key: node
            for graph, of_graph in zip(side, of_side)
            for key, node in zip(of_graph, graph.nodes)
        }
        for side, of_side in zip((before, after), keys)
    ]
    marked = []
    for side, of_side, other, title in zip((before, after), keys, reversed(known), titles):
        marked.append(
            [
                replace(
                    graph,
                    nodes=[
                        _marked(node, other.get(key), title, side is after)
                        for key, node in zip(of_graph, graph.nodes)
                    ],
                )
                for graph, of_graph in zip(side, of_side)
            ]
        )
    return marked[0], marked[1]


def _keys(graph: Graph) -> list[Key]:
    seen = Counter[tuple[str, str, str]]()
    found = []
    for node in graph.nodes:
        start = (graph.method, node.module, node.operator)
        found.append((*start, seen[start]))
        seen[start] += 1
    return found


def _marked(node: GraphNode, other: GraphNode | None, title: str, is_after: bool) -> GraphNode:
    if other is None:
        return replace(node, change=f"only in {title}")
    first, second = (other, node) if is_after else (node, other)
    changes = [
        f"{name}: {_text(getattr(first, key))} -> {_text(getattr(second, key))}"
        for key, name in _SHOWN.items()
        if getattr(first, key) != getattr(second, key)
    ]
    return replace(node, change="; ".join(changes))


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_text, value)) or "none"
    return f"{value:.4g}" if isinstance(value, float) else str(value) if value else "none"
