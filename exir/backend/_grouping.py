# SPDX-License-Identifier: BSD-3-Clause
"""Joins groups of nodes into the largest partitions that can each run in one step."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from torch.fx import Graph, Node
from torch.fx.passes.infra.partitioner import Partition


def grouped_partitions(
    graph: Graph, groups: Iterable[list[Node]], joins_all: bool = False
) -> list[Partition]:
    """Groups that share a node are one; neighbours are joined in graph order unless a value would leave the result and
    come back, then those that read the same value of a call outside; `joins_all`: then any others. Numbered in graph
    order."""
    place = {node: index for index, node in enumerate(graph.nodes)}
    merged = _overlapping(groups)
    contracted = _Contracted(graph, merged)
    claimed = {node for group in merged for node in group}
    if contracted.sort():  # else the groups as given need each other; who lowers them says which
        for node in graph.nodes:
            for source in node.all_input_nodes:
                if node in claimed and source in claimed:
                    contracted.try_to_join(place[source], place[node])
        for node in graph.nodes:
            if node.op == "call_function" and node not in claimed:
                readers = [place[user] for user in node.users if user in claimed]
                for one, two in pairwise(sorted(readers)):
                    contracted.try_to_join(one, two)
        if joins_all:
            contracted.join_all([place[group[0]] for group in map(list, merged)])
    members: dict[int, list[Node]] = {}
    for node in graph.nodes:
        if node in claimed:
            members.setdefault(contracted.find(place[node]), []).append(node)
    found = sorted(members.values(), key=lambda nodes: place[nodes[0]])
    return [Partition(number, nodes) for number, nodes in enumerate(found)]


def need_each_other(graph: Graph, groups: Iterable[list[Node]]) -> bool:
    """Whether groups, those that share a node as one, cannot run one after the other."""
    return not _Contracted(graph, _overlapping(groups)).sort()


def _overlapping(groups: Iterable[list[Node]]) -> list[set[Node]]:
    home: dict[Node, set[Node]] = {}
    for group in groups:
        together = set(group)
        for node in group:
            together |= home.get(node, set())
        for node in together:
            home[node] = together
    return list({id(each): each for each in home.values()}.values())


class _Contracted:
    """The graph with clusters as single vertices, and a topological order of it that is mended after each join
    (Pearce and Kelly, A dynamic topological sort algorithm for directed acyclic graphs): a search for a way around
    looks only at what lies between the two."""

    def __init__(self, graph: Graph, groups: list[set[Node]]) -> None:
        place = {node: index for index, node in enumerate(graph.nodes)}
        self._parent = list(range(len(place)))
        self._users = [{place[user] for user in node.users} for node in place]
        self._sources = [{place[source] for source in node.all_input_nodes} for node in place]
        self._order = list(range(len(place)))
        for group in groups:
            first, *others = (place[node] for node in group)
            for other in others:
                self._unite(first, other)

    def find(self, vertex: int) -> int:
        parent = self._parent
        while parent[vertex] != vertex:
            parent[vertex] = vertex = parent[parent[vertex]]
        return vertex

    def join_all(self, vertices: list[int]) -> None:
        """Each cluster with the first that it can be one with."""
        kept: list[int] = []
        for root in sorted({self.find(each) for each in vertices}, key=self._order.__getitem__):
            for other in kept:
                self.try_to_join(other, root)
                if self.find(other) == self.find(root):
                    break
            else:
                kept.append(root)

    def sort(self) -> bool:
        """Orders the vertices; False when there is a cycle."""
        roots = [vertex for vertex, parent in enumerate(self._parent) if vertex == parent]
        waiting = {root: len(self._neighbours(self._sources, root)) for root in roots}
        ready = [root for root in roots if waiting[root] == 0]
        for position, root in enumerate(ready):  # grows while it runs
            self._order[root] = position
            for user in self._neighbours(self._users, root):
                waiting[user] -= 1
                if waiting[user] == 0:
                    ready.append(user)
        return len(ready) == len(roots)

    def try_to_join(self, before: int, after: int) -> None:
        """Joins the clusters of two nodes, unless a way leads from one to the other but for an edge between them."""
        order = self._order
        one, two = sorted((self.find(before), self.find(after)), key=order.__getitem__)
        if one == two:
            return
        later = self._between(self._users, one, two)
        if two in later:
            return
        if not later:
            position = order[two]
        else:
            earlier = self._between(self._sources, two, one)
            position = order[one] if not earlier else self._make_room(one, two, earlier, later)
        order[self._unite(one, two)] = position

    def _between(self, edges: list[set[int]], start: int, end: int) -> set[int]:
        """What can be reached from `start` and lies between the two in the order; with `end`, when it is reached by
        more than the direct edge."""
        order = self._order
        low, high = sorted((order[start], order[end]))
        reached: set[int] = set()
        stack = [v for v in self._neighbours(edges, start) if v != end and low < order[v] < high]
        while stack:
            vertex = stack.pop()
            if vertex in reached:
                continue
            reached.add(vertex)
            for each in self._neighbours(edges, vertex):
                if each == end:
                    return reached | {end}
                if low < order[each] < high:
                    stack.append(each)
        return reached

    def _make_room(self, one: int, two: int, earlier: set[int], later: set[int]) -> int:
        """Puts `earlier` before and `later` behind the joined vertex, in the places that all of them have now."""
        order = self._order
        places = sorted(order[vertex] for vertex in {one, two} | earlier | later)
        head = sorted(earlier, key=order.__getitem__)
        tail = sorted(later, key=order.__getitem__)
        for vertex, position in zip(head, places, strict=False):
            order[vertex] = position
        for vertex, position in zip(reversed(tail), reversed(places), strict=False):
            order[vertex] = position
        return places[len(head)]

    def _neighbours(self, edges: list[set[int]], root: int) -> set[int]:
        found = {self.find(vertex) for vertex in edges[root]}
        found.discard(root)
        edges[root] = found
        return found

    def _unite(self, one: int, two: int) -> int:
        one, two = self.find(one), self.find(two)
        if one == two:
            return one
        size = [len(self._users[root]) + len(self._sources[root]) for root in (one, two)]
        large, small = (one, two) if size[0] >= size[1] else (two, one)
        self._parent[small] = large
        self._users[large] |= self._users[small]
        self._sources[large] |= self._sources[small]
        return large
