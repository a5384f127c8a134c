# SPDX-License-Identifier: BSD-3-Clause
"""Orders of a graph whose nodes are joined into groups, and the cycles that joining can make."""

from __future__ import annotations

import heapq

from torch.fx import Graph, Node


class CyclicGroups(Exception):
    """`groups`: a cycle of group numbers, first and last the same; `between`: names of single nodes on it."""

    def __init__(self, groups: list[int], between: list[str]) -> None:
        super().__init__(f"cycle of groups {groups}")
        self.groups = groups
        self.between = between


def groups_in_order(graph: Graph, group: dict[Node, int]) -> None:
    """Raises CyclicGroups unless each group (node -> number) can run in one step."""
    keys = {node: ("group", group[node]) if node in group else node for node in graph.nodes}
    after: dict[object, set[object]] = {key: set() for key in keys.values()}
    missing: dict[object, int] = dict.fromkeys(after, 0)
    for node, key in keys.items():
        for source in node.all_input_nodes:
            before = keys[source]
            if before is not key and before != key and key not in after[before]:
                after[before].add(key)
                missing[key] += 1
    ready = [key for key, count in missing.items() if count == 0]
    done = 0
    while ready:
        done += 1
        for key in after[ready.pop()]:
            missing[key] -= 1
            if missing[key] == 0:
                ready.append(key)
    if done < len(after):
        raise _cycle_among({key for key, count in missing.items() if count}, after)


def _cycle_among(left: set[object], after: dict[object, set[object]]) -> CyclicGroups:
    """Every key in `left` has a predecessor in `left`: walking backwards comes around."""
    before = {key: source for source in left for key in after[source] if key in left}
    path: dict[object, None] = {}
    key = next(iter(before))
    while key not in path:
        path[key] = None
        key = before[key]
    backwards = list(path)
    cycle = backwards[backwards.index(key) :][::-1]
    groups = [item[1] for item in cycle if isinstance(item, tuple)]
    return CyclicGroups(
        [*groups, groups[0]], [item.name for item in cycle if isinstance(item, Node)]
    )


def sort_stably(graph: Graph) -> None:
    """Moves nodes, as few as needed, so that each stands after what it reads. The graph must be acyclic."""
    place = {node: index for index, node in enumerate(graph.nodes)}
    if all(place[source] < at for node, at in place.items() for source in node.all_input_nodes):
        return
    missing = {node: len(node.all_input_nodes) for node in place}
    ready = [(at, node) for node, at in place.items() if not missing[node]]
    heapq.heapify(ready)
    last: Node | None = None
    while ready:
        _, node = heapq.heappop(ready)
        if last is not None:
            last.append(node)
        last = node
        for user in node.users:
            missing[user] -= 1
            if not missing[user]:
                heapq.heappush(ready, (place[user], user))
