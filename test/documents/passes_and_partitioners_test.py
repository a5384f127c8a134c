# SPDX-License-Identifier: BSD-3-Clause
"""Custom compiler passes and partitioners: the examples of that document, on edge graphs."""

from __future__ import annotations

import pytest
import torch
from torch.export import export
from torch.fx import subgraph_rewriter
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.infra.pass_base import PassBase
from torch.fx.passes.operator_support import OperatorSupportBase, any_chain, chain
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher
from torch.fx.passes.utils.source_matcher_utils import get_source_partitions

from executorch.exir import to_edge
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.pass_manager import PassManager
from executorch.exir.print_program import inspect_node


def edge_module(module: torch.nn.Module, *inputs: torch.Tensor) -> torch.fx.GraphModule:
    return to_edge(export(module, inputs, strict=True)).exported_program().graph_module


class AddThenMul(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        z = torch.relu(x + y)
        return (z * y + x).sin()


@pytest.mark.req("CMP-028", "CMP-C11")
def test_the_subgraph_rewriter_returns_what_it_replaced() -> None:
    class Large(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return torch.ops.aten.mul.Tensor(torch.ops.aten.add.Tensor(x, y), y).relu()

    def pattern(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x = torch.ops.aten.add.Tensor(x, y)
        return torch.ops.aten.mul.Tensor(x, y)

    def replacement(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.ops.aten.sub.Tensor(x, y)

    x, y = torch.randn(3), torch.randn(3)
    traced = export(Large(), (x, y)).module()
    (replaced,) = subgraph_rewriter.replace_pattern_with_filters(traced, pattern, replacement)
    assert replaced.anchor.target == torch.ops.aten.mul.Tensor
    assert [node.target for node in replaced.replacements] == [torch.ops.aten.sub.Tensor]
    assert len(replaced.nodes_map) >= 2
    torch.testing.assert_close(traced(x, y), (x - y).relu())


def addmm(size: int) -> torch.fx.Graph:
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self._weight = torch.nn.Parameter(torch.ones(size, size))
            self._bias = torch.nn.Parameter(torch.ones(size, size))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.ops.aten.addmm.default(self._bias, x, self._weight)

    return edge_module(Model(), torch.randn(size, size)).graph


@pytest.mark.req("CMP-030")
def test_the_subgraph_matcher_finds_a_pattern_of_another_size() -> None:
    matcher = SubgraphMatcher(addmm(5))
    assert (matcher.match_output, matcher.match_placeholder) == (False, False)
    assert (matcher.remove_overlapping_matches, matcher.ignore_literals) == (True, False)
    (match,) = matcher.match(addmm(3))
    assert [node.target for node in match.anchors] == [exir_ops.edge.aten.addmm.default]
    assert len(match.placeholder_nodes) == 3
    targets = [node.target for node in match.returning_nodes]
    assert targets == [exir_ops.edge.aten.addmm.default]


class Supports(OperatorSupportBase):
    def __init__(self, *targets: object) -> None:
        self.targets = targets

    def is_node_supported(self, submodules: object, node: torch.fx.Node) -> bool:
        return node.op == "call_function" and node.target in self.targets


@pytest.mark.req("CMP-030")
def test_the_capability_partitioner_proposes_the_largest_subgraphs() -> None:
    ops = exir_ops.edge.aten
    graph_module = edge_module(AddThenMul(), torch.randn(2), torch.randn(2))
    add, mul = Supports(ops.add.Tensor), Supports(ops.mul.Tensor)
    partitioner = CapabilityBasedPartitioner(
        graph_module, any_chain(add, mul), allows_single_node_partition=True
    )
    # relu stands between the first addition and the rest.
    sizes = sorted(len(partition.nodes) for partition in partitioner.propose_partitions())
    assert sizes == [1, 2]
    nothing = CapabilityBasedPartitioner(
        graph_module, chain(add, mul), allows_single_node_partition=True
    )
    assert nothing.propose_partitions() == []


@pytest.mark.req("CMP-032")
def test_source_partitions_of_modules() -> None:
    class M(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear1 = torch.nn.Linear(3, 3)
            self.relu = torch.nn.ReLU()
            self.linear2 = torch.nn.Linear(3, 5)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.linear1(x)
            x = self.linear1(x)
            x = self.relu(x)
            return self.linear2(x)

    graph = edge_module(M(), torch.randn(3, 3)).graph
    partitions = get_source_partitions(graph, [torch.nn.Linear, torch.nn.ReLU])
    counts = {kind.__name__: len(found) for kind, found in partitions.items()}
    assert counts == {"Linear": 3, "ReLU": 1}
    (relu,) = partitions[torch.nn.ReLU]
    assert [node.target for node in relu.nodes] == [exir_ops.edge.aten.relu.default]
    assert relu.source is torch.nn.ReLU and len(relu.input_nodes) == len(relu.output_nodes) == 1
    assert relu.params == []


class ReplaceOp(PassBase):
    def __init__(self, old: object, new: object) -> None:
        self.old, self.new = old, new

    def call(self, graph_module: torch.fx.GraphModule) -> None:
        for node in graph_module.graph.nodes:
            if node.op == "call_function" and node.target == self.old:
                node.target = self.new

    def requires(self, graph_module: torch.fx.GraphModule) -> None:
        if all(node.target != self.old for node in graph_module.graph.nodes):
            raise ValueError(f"No {self.old} ops!")


@pytest.mark.req("CMP-C09")
def test_checks_of_the_pass_manager_run_after_each_pass() -> None:
    def check_div_target(graph_module: torch.fx.GraphModule) -> None:
        for node in graph_module.graph.nodes:
            if node.op == "call_function" and node.target != torch.div:
                raise ValueError("Target should be div!")

    class Add(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.add(x, x)

    to_div, to_mul = ReplaceOp(torch.add, torch.div), ReplaceOp(torch.div, torch.mul)
    manager = PassManager(
        passes=[to_div, to_mul], run_checks_after_each_pass=True, suppress_check_failures=False
    )
    manager.add_checks(check_div_target)
    at_end = PassManager(passes=[to_div, to_mul, ReplaceOp(torch.mul, torch.div)])
    at_end.add_checks(check_div_target)
    at_end(torch.fx.symbolic_trace(Add()))
    with pytest.raises(Exception, match="when running") as caught:
        manager(torch.fx.symbolic_trace(Add()))
    assert str(caught.value.__cause__) == "Target should be div!"
    only_div = PassManager(passes=[to_div], run_checks_after_each_pass=True)
    only_div.add_checks(check_div_target)
    module = only_div(torch.fx.symbolic_trace(Add())).graph_module
    torch.testing.assert_close(module(torch.tensor([3.0])), torch.tensor([1.0]))


@pytest.mark.req("CMP-049")
def test_a_node_is_shown_in_its_graph_with_its_source_line() -> None:
    graph = edge_module(AddThenMul(), torch.randn(2), torch.randn(2)).graph
    (sine,) = graph.find_nodes(op="call_function", target=exir_ops.edge.aten.sin.default)
    text = inspect_node(graph, sine)
    (marked,) = [line for line in text.splitlines() if line.startswith("-->")]
    assert "aten_sin_default" in marked
    assert "return (z * y + x).sin()" in text
    plain = torch.fx.symbolic_trace(AddThenMul()).graph
    assert "no stack trace" in inspect_node(plain, next(iter(plain.nodes)))
