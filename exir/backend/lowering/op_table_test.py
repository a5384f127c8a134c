# SPDX-License-Identifier: BSD-3-Clause
"""Tables of ops: what is claimed, the reason for what is not, steps of several calls, and data that are computed."""

from __future__ import annotations

import torch
from torch.export import ExportedProgram, export

from executorch.exir import to_edge
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.lowering.op_table import (
    NO_ROW,
    Condition,
    OpTable,
    Row,
    TensorCondition,
)
from executorch.exir.backend.lowering.patterns import HEAD, Call
from executorch.exir.backend.lowering.steps import nodes_of
from executorch.exir.graph_facts import op_name


def _lower() -> None:
    """Nothing is written here."""


TABLE = OpTable(
    {
        "aten.add.Tensor": Row(
            _lower,
            (
                Condition(lambda node, constants: len(node.args) == 2, "two tensors are expected"),
                Condition(lambda node, constants: node.args[1] in constants, "a bias is expected"),
            ),
        ),
        "aten.relu.default": Row(_lower),
    },
    of_tensors=(
        TensorCondition(lambda tensor, call: tensor.meta["val"].dim() == 2, "a matrix is expected"),
    ),
    of_calls=(Condition(lambda node, constants: "forbidden" not in node.meta, "it is forbidden"),),
)


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bias = torch.nn.Parameter(torch.randn(2, 3))

    def forward(self, x: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.relu(x + self.bias), x + x, torch.relu(v), torch.neg(x), x.max(1)[0]


def _program() -> ExportedProgram:
    return to_edge(export(Model(), (torch.randn(2, 3), torch.randn(4)))).exported_program()


def test_the_first_reason_is_given() -> None:
    program = _program()
    constants = Constants(program)
    reasons = {
        node.name: TABLE.why_not(node, constants)
        for node in program.graph.nodes
        if node.op == "call_function"
    }
    assert reasons == {
        "aten_add_tensor": "",
        "aten_relu_default": "",
        "aten_add_tensor_1": "a bias is expected",
        "aten_relu_default_1": "a matrix is expected, found float32 [4]",
        "aten_neg_default": NO_ROW,
        "aten_max_dim": NO_ROW,
        "getitem": NO_ROW,
    }
    (relu,) = (node for node in program.graph.nodes if node.name == "aten_relu_default")
    relu.meta["forbidden"] = True
    assert TABLE.why_not(relu, constants) == "it is forbidden"
    assert list(TABLE) == ["aten.add.Tensor", "aten.relu.default"] and len(TABLE) == 2


def test_a_condition_may_say_more_of_a_call() -> None:
    program = _program()
    says = Condition(
        lambda node, constants: False, "the validator takes it", lambda node, _: f"no {node.name}"
    )
    table = OpTable({"aten.neg.default": Row(_lower, (says,))})
    (neg,) = (node for node in program.graph.nodes if node.name == "aten_neg_default")
    assert table.why_not(neg, {}) == "the validator takes it: no aten_neg_default"


def test_calls_of_a_pattern_that_is_not_taken_have_its_reason() -> None:
    """Not those that are in no such pattern; what a pattern computes is preserved, what quantizes is no computation."""
    quantize = "quantized_decomposed.quantize_per_tensor.default"
    relu = Call("aten.relu.default", Call("aten.add.Tensor"))
    refused = (Condition(lambda step, constants: False, "fewer calls are expected"),)
    table = OpTable(
        {
            relu: Row(_lower, refused),
            Call(quantize, Call("aten.linear.default")): Row(_lower, preserved=True),
        }
    )
    nodes = {node.name: node for node in _program().graph.nodes}
    reasons = {name: table.why_not(nodes[name], {}) for name in nodes if "aten" in name}
    left = {name for name, reason in reasons.items() if reason == "fewer calls are expected"}
    assert left == {"aten_add_tensor", "aten_relu_default"}
    assert set(reasons.values()) == {"fewer calls are expected", NO_ROW}
    assert table.preserved() == [torch.ops.aten.linear.default]


def test_steps_cover_a_graph() -> None:
    graph = _program().graph
    relu = Call("aten.relu.default", HEAD, optional=True)
    table = OpTable({"aten.add.Tensor": Row(_lower, tail=relu)})
    steps = table.steps(graph, {})
    names = [[node.name for node in nodes_of(step)] for step in steps]
    assert ["aten_add_tensor", "aten_relu_default"] in names
    assert ["aten_max_dim", "getitem"] in names
    assert sorted(sum(names, [])) == sorted(n.name for n in graph.nodes if n.op == "call_function")


def test_what_constants_become_is_computed_when_it_is_asked_for() -> None:
    class Scaled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor([1.0, 2.0]))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + torch.neg(torch.neg(self.weight)) + torch.neg(x)

    program = export(Scaled(), (torch.ones(2),))
    constants = Constants(program, {"aten.neg.default"})
    weight, *computed = constants
    assert not constants.is_computed(weight) and all(map(constants.is_computed, computed))
    assert [node.name for node in computed] == ["neg", "neg_1"] and len(constants) == 3
    assert constants[computed[1]].tolist() == [1.0, 2.0] and constants[computed[0]].sum() == -3
    (of_x,) = (node for node in program.graph.nodes if node.name == "neg_2")
    assert of_x not in constants and constants.get(of_x) is None


class Noisy(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        noise = torch.rand_like(self.weight) + self.weight.clone().exponential_()
        return x + self.weight.sin() + noise


def test_random_numbers_are_not_computed_ahead() -> None:
    """They would be the same in all runs."""
    program = to_edge(export(Noisy(), (torch.ones(4),))).exported_program()
    constants = Constants(program, computed=None)
    computed = {op_name(node) for node in constants if constants.is_computed(node)}
    assert "aten.sin.default" in computed
    assert not computed & {"aten.rand_like.default", "aten.exponential.default"}
