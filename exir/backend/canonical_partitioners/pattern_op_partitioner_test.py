# SPDX-License-Identifier: BSD-3-Clause
"""Partitions by pattern: the largest ones, without the nodes between."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.passes.operator_support import OperatorSupportBase

from executorch.exir import to_edge
from executorch.exir.backend.canonical_partitioners.pattern_op_partitioner import (
    generate_partitions_from_list_of_nodes,
    generate_pattern_op_partitions,
)
from executorch.exir.dialects._ops import ops


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first = (x + x).relu()
        again = (first + first).relu()
        return (again.sin() + again).relu()


def edge(module: torch.nn.Module) -> GraphModule:
    return to_edge(torch.export.export(module, (torch.ones(3),))).exported_program().graph_module


def pattern(function: Callable[..., Any], inputs: int) -> Graph:
    class Pattern(torch.nn.Module):
        forward = staticmethod(function)

    example = tuple(torch.ones(3) for _ in range(inputs))
    return to_edge(torch.export.export(Pattern(), example)).exported_program().graph_module.graph


class Sines(OperatorSupportBase):
    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: Node) -> bool:
        return node.target == ops.edge.aten.sin.default


def names(partitions: list[Any]) -> list[list[str]]:
    def order(node: Node) -> list[str]:
        return [n.name for n in node.graph.nodes]

    return sorted(
        sorted((node.name for node in p.nodes), key=order(next(iter(p.nodes))).index)
        for p in partitions
    )


def add_relu(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x + y).relu()


ADDS = ["aten_add_tensor", "aten_relu_default", "aten_add_tensor_1", "aten_relu_default_1"]
LAST = ["aten_add_tensor_2", "aten_relu_default_2"]


@pytest.mark.req("CMP-031")
def test_neighbouring_matches_become_one_partition() -> None:
    doubled = pattern(lambda x: add_relu(x, x), 1)
    found = generate_pattern_op_partitions(edge(Net()), [doubled, pattern(add_relu, 2)])
    assert names(found) == [ADDS, LAST]


def test_a_pattern_of_two_inputs_does_not_match_one_input_twice() -> None:
    assert names(generate_pattern_op_partitions(edge(Net()), [pattern(add_relu, 2)])) == [LAST]


@pytest.mark.req("CMP-031")
def test_an_operator_support_joins_what_it_connects() -> None:
    graph = edge(Net())
    together = names(
        generate_pattern_op_partitions(graph, [pattern(add_relu, 2)], op_support=Sines())
    )
    assert together == [["aten_sin_default", *LAST]]
    assert names(generate_pattern_op_partitions(graph, op_support=Sines())) == [
        ["aten_sin_default"]
    ]


def test_without_anything_to_look_for_there_is_none() -> None:
    assert generate_pattern_op_partitions(edge(Net())) == []
    assert generate_partitions_from_list_of_nodes(edge(Net()), []) == []


@pytest.mark.req("CMP-031")
def test_chosen_nodes_are_grouped() -> None:
    graph = edge(Net())
    chosen = [[n for n in graph.graph.nodes if "add" in n.name or "relu" in n.name]]
    assert names(generate_partitions_from_list_of_nodes(graph, chosen)) == [ADDS, LAST]
