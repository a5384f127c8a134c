# SPDX-License-Identifier: BSD-3-Clause
"""Groups of nodes are joined as a plain search would join them, in time near the size of the graph."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch.export import export
from torch.fx import Graph, Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from executorch.exir import to_edge
from executorch.exir.backend._grouping import grouped_partitions
from executorch.exir.backend.canonical_partitioners.group_partitioner import GroupBasedPartitioner

Groups = list[list[Node]]


def chain(count: int) -> tuple[Graph, Groups]:
    graph = Graph()
    nodes = [graph.placeholder("x")]
    for _ in range(count):
        nodes.append(graph.call_function(torch.relu, (nodes[-1],)))
    graph.output(nodes[-1])
    return graph, [[node] for node in nodes[1:]]


def ladder(count: int) -> tuple[Graph, Groups]:
    """Every second step has a way around through a node that nobody claims."""
    graph = Graph()
    x, groups = graph.placeholder("x"), []
    for _ in range(count):
        a = graph.call_function(torch.relu, (x,))
        x = graph.call_function(torch.add, (a, graph.call_function(torch.sin, (a,))))
        groups += [[a], [x]]
    graph.output(x)
    return graph, groups


def fan(count: int) -> tuple[Graph, Groups]:
    graph = Graph()
    x = graph.placeholder("x")
    nodes = [graph.call_function(torch.relu, (x,)) for _ in range(count)]
    groups, total = [[node] for node in nodes], nodes[0]
    for node in nodes[1:]:
        total = graph.call_function(torch.add, (total, node))
        groups.append([total])
    graph.output(total)
    return graph, groups


def plainly(graph: Graph, groups: Groups) -> list[list[str]]:
    """The same by searching the whole graph before each join."""
    members = {number: set(group) for number, group in enumerate(groups)}
    cluster = {node: number for number, group in members.items() for node in group}

    def leads_around(one: int, two: int) -> bool:
        inside = members[one] | members[two]
        seen: set[Node] = set()
        stack = [user for node in inside for user in node.users if user not in inside]
        while stack:
            node = stack.pop()
            if node in inside:
                return True
            if node not in seen:
                together = members[cluster[node]] if node in cluster else {node}
                seen |= together
                stack.extend(user for each in together for user in each.users)
        return False

    def join(before: Node, after: Node) -> None:
        one, two = cluster.get(before), cluster.get(after)
        if one is None or two is None or one == two or leads_around(one, two):
            return
        for moved in members.pop(two):
            cluster[moved] = one
            members[one].add(moved)

    for node in graph.nodes:
        for source in node.all_input_nodes:
            join(source, node)
    for node in graph.nodes:
        if node.op == "call_function" and node not in cluster:
            readers = [each for each in graph.nodes if each in node.users and each in cluster]
            for before, after in pairwise(readers):
                join(before, after)
    return sorted(sorted(node.name for node in group) for group in members.values())


def drawn(seed: int) -> tuple[Graph, Groups]:
    choose = random.Random(seed)
    graph = Graph()
    nodes, groups = [graph.placeholder("x")], []
    for _ in range(choose.randint(5, 40)):
        operands = tuple(choose.choices(nodes[-6:], k=2))
        nodes.append(graph.call_function(torch.add, operands))
        if choose.random() < 0.7:
            groups.append([nodes[-1]])
    graph.output(nodes[-1])
    return graph, groups


@pytest.mark.parametrize("seed", range(60))
def test_drawn_graphs_are_joined_as_by_a_plain_search(seed: int) -> None:
    graph, groups = drawn(seed)
    found = [sorted(node.name for node in each.nodes) for each in grouped_partitions(graph, groups)]
    assert sorted(found) == plainly(graph, groups)


def test_readers_of_one_value_are_one() -> None:
    """As the projections of attention are, whose operand a norm outside makes; those behind it need both."""
    graph = Graph()
    norm = graph.call_function(torch.sin, (graph.placeholder("x"),))
    queries, keys = (graph.call_function(torch.relu, (norm,)) for _ in range(2))
    outside = graph.call_function(torch.add, (queries, keys))
    last = graph.call_function(torch.mul, (outside, norm))
    graph.output(last)
    found = grouped_partitions(graph, [[queries], [keys], [last]])
    assert [sorted(node.name for node in each.nodes) for each in found] == [
        ["relu", "relu_1"],
        ["mul"],
    ]


@pytest.mark.parametrize("make", [chain, ladder, fan], ids=lambda make: make.__name__)
def test_large_graphs_take_no_time(make: Callable[[int], tuple[Graph, Groups]]) -> None:
    graph, groups = make(3000)  # a search of the whole graph for each join took 10 to 45 seconds
    start = time.process_time()
    partitions = grouped_partitions(graph, groups)
    assert time.process_time() - start < 5
    assert len(partitions) == (3001 if make is ladder else 1)


def test_groups_that_need_each_other_stay_as_they_are() -> None:
    graph = Graph()
    x = graph.placeholder("x")
    a = graph.call_function(torch.relu, (x,))
    b = graph.call_function(torch.sin, (a,))
    c = graph.call_function(torch.cos, (b,))
    graph.output(c)
    found = grouped_partitions(graph, [[a, c], [b]])
    assert [sorted(node.name for node in each.nodes) for each in found] == [
        ["cos", "relu"],
        ["sin"],
    ]


def test_without_groups_partitions_are_torchs() -> None:
    """Also where values part and meet again, and where joining all would need a value before it is there."""

    class Diamonds(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
            a = x + y
            left, right = a.sin() + 1, a * 2
            b = left * right
            return b + a, (b.cos() * x) + y

    edge = to_edge(export(Diamonds(), (torch.ones(2), torch.ones(2)))).exported_program()

    class SumsAndProducts(OperatorSupportBase):
        def is_node_supported(self, submodules: Any, node: Node) -> bool:
            return node.op == "call_function" and ("add" in node.name or "mul" in node.name)

    def sets(partitioner: type) -> list[set[str]]:
        made = partitioner(edge.graph_module, SumsAndProducts(), allows_single_node_partition=True)
        found = [{node.name for node in each.nodes} for each in made.propose_partitions()]
        return sorted(found, key=sorted)

    assert sets(GroupBasedPartitioner) == sets(CapabilityBasedPartitioner)
