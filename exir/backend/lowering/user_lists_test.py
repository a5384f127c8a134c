# SPDX-License-Identifier: BSD-3-Clause
"""Lists of calls that a user keeps undelegated: how they name them, and what goes with such a call."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch
from torch.fx import Node
from torch.fx.passes.operator_support import OperatorSupportBase

from executorch.exir import to_edge
from executorch.exir.backend.lowering.op_table import OpTable, Row
from executorch.exir.backend.lowering.partitioner import TablePartitioner
from executorch.exir.backend.lowering.patterns import HEAD, Call
from executorch.exir.backend.lowering.steps import LIMITS
from executorch.exir.backend.lowering.user_lists import (
    UserLists,
    by_module,
    by_node,
    by_operator,
    by_part_of_operator,
)
from executorch.exir.dialects._ops import ops

RELU, NEG = "aten.relu.default", "aten.neg.default"


def _lower() -> None:
    """Nothing is written here."""


class Device(TablePartitioner):
    backend_id = "Device"
    table = OpTable(
        {
            "aten.linear.default": Row(_lower, tail=LIMITS),
            NEG: Row(_lower),
            RELU: Row(_lower),
            Call("aten.exp.default", Call("aten.abs.default", HEAD)): Row(_lower),
        }
    )


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = torch.nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.fc(x).relu() * 2).abs().exp().neg().relu()


def _reasons(lists: UserLists) -> dict[str, str]:
    program = to_edge(torch.export.export(Net(), (torch.ones(2, 3),))).exported_program()
    found = Device(user_lists=lists).why_not_delegated(program)
    return {node.name: why for node, why in found.items() if "no row" not in why}


def test_without_lists_what_has_a_row_is_delegated() -> None:
    assert set(_reasons(UserLists())) <= {"aten_mul_tensor"}
    assert not any("list" in why for why in _reasons(UserLists()).values())


@pytest.mark.parametrize(
    "name",
    [
        *("aten.neg.default", "aten.neg", "aten::neg", "aten::neg.default", "ATEN.Neg.default"),
        torch.ops.aten.neg.default,
        ops.edge.aten.neg.default,
    ],
    ids=str,
)
def test_operators_are_named_in_any_form(name: object) -> None:
    reasons = _reasons(UserLists(blocked=[("denied", by_operator, [name])]))
    assert reasons["aten_neg_default"] == "its operator is in denied"


@pytest.mark.parametrize("part", ["aten_neg_default", "aten_neg", "neg"])
def test_operators_are_named_by_a_part(part: str) -> None:
    reasons = _reasons(UserLists(blocked=[("denied", by_part_of_operator, [part])]))
    assert reasons["aten_neg_default"] == "its operator is in denied"
    assert reasons.get("aten_mul_tensor") != "its operator is in denied"


def test_a_limit_stays_and_the_call_before_it_goes() -> None:
    reasons = _reasons(UserLists(blocked=[("denied", by_operator, [RELU])]))
    assert {name for name, why in reasons.items() if why == "its operator is in denied"} == {
        "aten_relu_default",
        "aten_relu_default_1",
    }
    assert "aten_linear_default" not in reasons


def test_a_pattern_with_a_blocked_call_is_left() -> None:
    reasons = _reasons(UserLists(blocked=[("denied", by_node, ["aten_abs_default"])]))
    assert reasons["aten_abs_default"] == "its name is in denied"
    assert "aten_exp_default" not in _reasons(UserLists())


def test_what_is_allowed_is_asked_of_heads_alone() -> None:
    reasons = _reasons(UserLists(allowed=[("only", by_operator, ["aten.linear"])]))
    assert "aten_linear_default" not in reasons and "aten_relu_default" not in reasons
    assert reasons["aten_neg_default"] == "its operator is not in only"
    of_modules = _reasons(UserLists(blocked=[("denied", by_module, ["Linear"])]))
    assert of_modules["aten_linear_default"] == "its module is in denied"


class NoNegation(OperatorSupportBase):
    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: Node) -> bool:
        return "neg" not in node.name


def test_checks_of_torch() -> None:
    reasons = _reasons(UserLists(checks=[NoNegation()]))
    assert reasons["aten_neg_default"] == "Rejected by NoNegation"
