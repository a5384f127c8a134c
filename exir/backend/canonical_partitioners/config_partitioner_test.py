# SPDX-License-Identifier: BSD-3-Clause
"""Rows and groups: which nodes go together, and that joining never makes a cycle."""

from __future__ import annotations

import pytest
import torch
from torch.export import ExportedProgram, export
from torch.fx import Node

from executorch.exir import to_edge, to_edge_transform_and_lower
from executorch.exir.backend.canonical_partitioners.all_node_partitioner import AllNodePartitioner
from executorch.exir.backend.canonical_partitioners.config_partitioner import (
    ConfigerationBasedPartitioner,
    PartitionerConfig,
    format_target_name,
)
from executorch.exir.backend.partitioner import DelegationSpec
from executorch.exir.backend.test.executor_backend import ExecutorBackend
from executorch.exir.lowered_backend_module import get_lowered_backend_modules

SPEC = DelegationSpec(ExecutorBackend.__name__, [])


class Row(PartitionerConfig):
    """Takes nodes of one operator; `whole` keeps it from being decomposed."""

    def __init__(self, target_name: str, whole: torch._ops.OpOverload | None = None) -> None:
        self.target_name = target_name
        self.whole = whole

    def check_constraints(self, node: Node, ep: ExportedProgram) -> bool:
        return node.meta["val"].dim() == 2

    def get_partition(self, node: Node, ep: ExportedProgram) -> list[Node]:
        return [node]

    def get_original_aten(self) -> torch._ops.OpOverload | None:
        return self.whole


class SinCosPair(Row):
    """A cosine goes together with the sine before it."""

    def __init__(self) -> None:
        super().__init__("cos.default")

    def get_partition(self, node: Node, ep: ExportedProgram) -> list[Node]:
        return [node.args[0], node]


class Diamond(torch.nn.Module):
    """sin and mul may not be joined with each other around the exp, which nobody claims."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a = torch.sin(x)
        b = torch.cos(a)
        return b * torch.exp(a)


X = torch.randn(2, 3)


def blobs(rows: list[PartitionerConfig], module: torch.nn.Module, inputs: tuple) -> list[list[str]]:
    partitioner = ConfigerationBasedPartitioner(SPEC, rows)
    manager = to_edge_transform_and_lower(export(module, inputs), partitioner=[partitioner])
    program = manager.exported_program()
    torch.testing.assert_close(program.module()(*inputs), module(*inputs))
    return [
        [n.name for n in lowered.original_module.graph.nodes if n.op == "call_function"]
        for lowered in get_lowered_backend_modules(program.graph_module)
    ]


def test_names_of_rows() -> None:
    assert format_target_name("aten.add.Tensor") == format_target_name("add.Tensor") == "add.Tensor"


def test_neighbours_are_one_delegate() -> None:
    found = blobs([Row("sin"), Row("cos.default")], Diamond(), (X,))
    assert found == [["aten_sin_default", "aten_cos_default"]]


def test_a_value_that_would_come_back_keeps_delegates_apart() -> None:
    found = blobs([Row("sin"), Row("mul.Tensor"), Row("cos")], Diamond(), (X,))
    assert found == [["aten_sin_default", "aten_cos_default"], ["aten_mul_tensor"]]


def test_a_row_may_take_several_nodes() -> None:
    found = blobs([SinCosPair()], Diamond(), (X,))
    assert found == [["aten_sin_default", "aten_cos_default"]]


def test_constraints_are_asked() -> None:
    assert blobs([Row("sin")], Diamond(), (torch.randn(3),)) == []


@pytest.mark.req("CMP-002")
def test_a_row_can_keep_an_operator_whole() -> None:
    class Norm(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.silu(x) + 1

    found = blobs([Row("silu", torch.ops.aten.silu.default)], Norm(), (X,))
    assert found == [["aten_silu_default"]]
    assert blobs([Row("silu")], Norm(), (X,)) == [], "decomposed before anyone looks"


def test_all_nodes_and_a_number_among_the_inputs() -> None:
    class Scale(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)

        def forward(self, x: torch.Tensor, by: int) -> torch.Tensor:
            return self.linear(x) * by

    partitioner = AllNodePartitioner(ExecutorBackend.__name__, [])
    manager = to_edge(export(Scale(), (X, 2))).to_backend(partitioner)
    calls = manager.exported_program().graph.find_nodes(
        op="call_function", target=torch.ops.higher_order.executorch_call_delegate
    )
    assert len(calls) == 1
    assert not manager.exported_program().state_dict


def test_two_rows_for_one_operator_are_refused() -> None:
    with pytest.raises(RuntimeError, match=r"two configurations for add\.Tensor"):
        ConfigerationBasedPartitioner(SPEC, [Row("add.Tensor"), Row("aten.add.Tensor")])
