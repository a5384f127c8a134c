# SPDX-License-Identifier: BSD-3-Clause
"""Graphs and arguments that no exporter makes: what emission says of each."""

from __future__ import annotations

import operator

import pytest
import torch
from torch._subclasses import FakeTensorMode
from torch.export import ExportedProgram, export

from executorch.exir import schema, to_edge
from executorch.exir.emit import emit_program
from executorch.exir.emit._values import ArgumentWriter, ValueTable, signature_of
from executorch.exir.error import ExportError, InternalError


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x * self.weight, torch.max(x, 1)[0]


@pytest.fixture
def method() -> ExportedProgram:
    return to_edge(export(Model(), (torch.randn(2, 3),))).to_executorch().exported_program()


def test_data_that_the_program_has_not(method: ExportedProgram) -> None:
    weight = method.state_dict.pop("weight")
    with pytest.raises(ExportError, match=r"has no tensor for weight \(placeholder p_weight\)"):
        emit_program(method)
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        method.state_dict["weight"] = mode.from_tensor(weight.detach())
    with pytest.raises(ExportError, match="holds no data .*; load the weights first"):
        emit_program(method)


def test_fewer_outputs_than_the_signature_has(method: ExportedProgram) -> None:
    output = method.graph.output_node()
    output.args = (tuple(output.args[0])[:1],)
    with pytest.raises(InternalError, match="1 outputs, but the signature has 2"):
        emit_program(method)


def test_several_values_in_the_place_of_one(method: ExportedProgram) -> None:
    output = method.graph.output_node()
    (call,) = method.graph.find_nodes(op="call_function", target=torch.ops.aten.max.dim_max)
    output.args = ((output.args[0][0], call),)
    with pytest.raises(InternalError, match="is a list, expected one value"):
        emit_program(method)


def test_an_item_of_a_single_value(method: ExportedProgram) -> None:
    """Item 0 is the value."""
    output = method.graph.output_node()
    first, second = output.args[0]
    with method.graph.inserting_before(output):
        item = method.graph.call_function(operator.getitem, (first, 0))
    item.meta.update(first.meta)
    output.args = ((item, second),)
    (plan,) = emit_program(method).program.execution_plan
    assert len(plan.outputs) == 2
    item.args = (first, 1)
    with pytest.raises(InternalError, match="item 1 of a single value"):
        emit_program(method)


def test_one_number_where_a_list_of_numbers_is_wanted() -> None:
    """It stands for each of as many as the schema counts; for one where it does not count."""
    table = ValueTable()
    for op, name, count in (
        (torch.ops.aten.avg_pool2d.out, "kernel_size", 2),
        (torch.ops.aten.permute_copy.out, "dims", 1),
    ):
        parameter = next(p for p in signature_of(op).parameters if p.name == name)
        index = ArgumentWriter(table, {}).argument(7, parameter)
        items = table.values[index].val.items
        assert [table.values[item].val for item in items] == [schema.Int(7)] * count
