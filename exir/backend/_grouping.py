# SPDX-License-Identifier: BSD-3-Clause
"""Joins groups of nodes into the largest partitions that can each run in one step."""

from __future__ import annotations

from collections.abc import Iterable

from torch.fx import Graph, Node
from torch.fx.passes.infra.partitioner import Partition


def grouped_partitions(graph: Graph, groups: Iterable[list[Node]]) -> list[Partition]:
    """Groups that share a node are one; neighbours are joined in graph order unless a value would leave the result and
    come back. Numbered in graph order."""
    place = {node: index for index, node in enumerate(graph.nodes)}
    merged = _overlapping(groups)
    clusters = _Clusters(graph, merged)
    for node in graph.nodes:
        for source in node.all_input_nodes:
            clusters.try_to_join(source, node)
    found = sorted(clusters.members(), key=lambda nodes: min(place[node] for node in nodes))
    return [
        Partition(number, sorted(nodes, key=place.__getitem__))
        for number, nodes in enumerate(found)
    ]


def _overlapping(groups: Iterable[list[Node]]) -> list[set[Node]]:
    home: dict[Node, set[Node]] = {}
    for group in groups:
        together = set(group)
        for node in group:
            together |= home.get(node, set())
        for node in together:
            home[node] = together
    return list({id(each): each for each in home.values()}.values())


class _Clusters:
    """Clusters of calls; every other node is alone. Joining keeps the contracted graph acyclic."""

    def __init__(self, graph: Graph, groups: list[set[Node]]) -> None:
        self._cluster: dict[Node, int] = {}
        self._members: dict[int, set[Node]] = {}
        for number, nodes in enumerate(groups):
            self._members[number] = set(nodes)
            self._cluster.update(dict.fromkeys(nodes, number))
        self._refused: set[tuple[int, int]] = set()

    def of(self, node: Node) -> int | None:
        return self._cluster.get(node)

    def members(self) -> list[set[Node]]:
        return list(self._members.values())

    def try_to_join(self, before: Node, after: Node) -> None:
        one, two = self.of(before), self.of(after)
        if one is None or two is None or one == two or (one, two) in self._refused:
            return
        if self._leaves_and_returns(one, two):
            self._refused.add((one, two))
            return
        for node in self._members.pop(two):
            self._cluster[node] = one
            self._members[one].add(node)
        self._refused = {pair for pair in self._refused if one not in pair and two not in pair}

    def _leaves_and_returns(self, one: int, two: int) -> bool:
        """True when a path from either to either passes through a node outside of both."""
        inside = self._members[one] | self._members[two]
        seen: set[Node] = set()
        stack = [user for node in inside for user in node.users if user not in inside]
        while stack:
            node = stack.pop()
            if node in inside:
                return True
            if node in seen:
                continue
            seen.add(node)
            cluster = self.of(node)
            together = self._members[cluster] if cluster is not None else {node}
            seen |= together - inside
            stack.extend(user for each in together for user in each.users if user not in seen)
        return False
