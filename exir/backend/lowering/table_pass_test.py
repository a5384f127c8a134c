# SPDX-License-Identifier: BSD-3-Clause
"""Calls that a row takes become what it writes; others, and what others read, stay."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.export import ExportedProgram, export
from torch.fx import Graph, Node

from executorch.exir import to_edge
from executorch.exir.backend.lowering.op_table import Condition, Constants, OpTable, Row
from executorch.exir.backend.lowering.table_pass import TablePass
from executorch.exir.dialects._ops import ops
from executorch.exir.graph_facts import only_user, op_name

_ATEN = ops.edge.aten


def _of_sum(relu: Node, constants: Constants) -> bool:
    return op_name(relu.args[0]) == "aten.add.Tensor" and only_user(relu.args[0]) is relu


def _of_data(mul: Node, constants: Constants) -> bool:
    return mul.args[1] in constants


def _maximum(graph: Graph, relu: Node) -> Node:
    """Not what relu computes: which rows were used is seen by names alone."""
    return graph.call_function(_ATEN.maximum.default, relu.args[0].args)


TABLE = OpTable(
    {
        "aten.add.Tensor": Row(
            lambda graph, node: graph.call_function(_ATEN.sub.Tensor, node.args)
        ),
        "aten.relu.default": Row(_maximum, (Condition(_of_sum, "a sum is expected"),)),
        "aten.mul.Tensor": Row(
            lambda graph, node: graph.call_function(_ATEN.div.Tensor, node.args),
            (Condition(_of_data, "a constant is expected"),),
        ),
    }
)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        shared = x + y
        return torch.relu(x + 2 * y), torch.relu(shared), shared, x * self.weight, x * y


class Branches(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda x: torch.relu(x + x), lambda x: x - x, (x,))


def edge(model: nn.Module, *inputs: Tensor) -> ExportedProgram:
    return to_edge(export(model, inputs)).exported_program()


def names(program: ExportedProgram) -> list[str]:
    return [op_name(node) for node in program.graph.nodes if node.op == "call_function"]


def test_the_longest_row_wins_and_what_fed_it_alone_goes() -> None:
    program = edge(Model(), torch.ones(3), torch.ones(3))
    result = TablePass(TABLE, program)(program.graph_module)
    assert result.modified
    found = names(program)
    assert found.count("aten.maximum.default") == 1 and found.count("aten.relu.default") == 1
    assert found.count("aten.sub.Tensor") == 1 and "aten.add.Tensor" not in found
    assert found.count("aten.div.Tensor") == 2 and found.count("aten.mul.Tensor") == 1
    assert all(
        node.meta["val"].shape == (3,) for node in program.graph.nodes if node.op == "call_function"
    )
    assert not TablePass(OpTable({}), program)(program.graph_module).modified


def test_what_stays_says_why() -> None:
    program = edge(Model(), torch.ones(3), torch.ones(3))
    reasons = TablePass(TABLE, program).why_not(program.graph_module)
    assert sorted(reasons.values()) == ["a constant is expected", "a sum is expected"]
    without = TablePass(TABLE).why_not(program.graph_module)
    assert len(without) == len(reasons) + 2, "without a program nothing is known to be constant"


def test_branches_are_rewritten_too() -> None:
    program = edge(Branches(), torch.ones(3))
    assert TablePass(TABLE, program)(program.graph_module).modified
    inside = [
        op_name(node)
        for module in program.graph_module.modules()
        if module is not program.graph_module and hasattr(module, "graph")
        for node in module.graph.nodes
    ]
    assert "aten.maximum.default" in inside and "aten.relu.default" not in inside


@pytest.mark.parametrize("model", [Model(), Branches()], ids=["straight", "branches"])
def test_the_pass_is_taken_by_transform(model: nn.Module) -> None:
    inputs = (torch.ones(3),) * (2 if isinstance(model, Model) else 1)
    manager = to_edge(export(model, inputs))
    passes = [TablePass(TABLE, manager.exported_program())]
    assert manager.transform(passes).to_executorch().buffer
