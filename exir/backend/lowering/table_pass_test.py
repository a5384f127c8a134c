# SPDX-License-Identifier: BSD-3-Clause
"""Calls that a row takes become what it writes; others, and what others read, stay."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.export import ExportedProgram, export
from torch.fx import Node

from executorch.exir import to_edge
from executorch.exir.backend.lowering.kernels.writer import KernelWriter
from executorch.exir.backend.lowering.op_table import Condition, Constants, OpTable, Row
from executorch.exir.backend.lowering.patterns import Call, Value
from executorch.exir.backend.lowering.steps import Step
from executorch.exir.backend.lowering.table_pass import TablePass
from executorch.exir.dialects._ops import ops
from executorch.exir.dialects.edge._ops import EdgeOpOverload
from executorch.exir.graph_facts import op_name

_ATEN = ops.edge.aten


def _of_data(mul: Node, constants: Constants) -> bool:
    return mul.args[1] in constants


def _is_of_threes(step: Step, constants: Constants) -> bool:
    return step.result.meta["val"].shape == (3,)


def _maximum(writer: KernelWriter, step: Step) -> Node:
    """Not what relu computes: which rows were used is seen by names alone."""
    return writer.call(_ATEN.maximum.default, step.named["x"], step.named["y"])


def _other(op: EdgeOpOverload) -> Callable[[KernelWriter, Step], Node]:
    return lambda writer, step: writer.call(op, *step.head.args)


TABLE = OpTable(
    {
        Call("aten.relu.default", Call("aten.add.Tensor", Value("x"), Value("y"))): Row(
            _maximum, (Condition(_is_of_threes, "three are expected"),)
        ),
        "aten.add.Tensor": Row(_other(_ATEN.sub.Tensor)),
        "aten.mul.Tensor": Row(
            _other(_ATEN.div.Tensor), (Condition(_of_data, "a constant is expected"),)
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


class Doubled(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x + x


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
    assert list(reasons.values()) == ["a constant is expected"]
    without = TablePass(TABLE).why_not(program.graph_module)
    assert len(without) == 3, "without a program nothing is known to be constant"
    relu = edge(nn.Sequential(Doubled(), nn.ReLU()), torch.ones(2))
    assert list(TablePass(TABLE, relu).why_not(relu.graph_module).values()) == [
        "three are expected"
    ]


def test_steps_that_read_each_other_are_all_rewritten() -> None:
    program = edge(nn.Sequential(Doubled(), nn.ReLU(), Doubled(), Doubled()), torch.ones(3))
    assert TablePass(TABLE, program)(program.graph_module).modified
    assert names(program) == ["aten.maximum.default", "aten.sub.Tensor", "aten.sub.Tensor"]


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
