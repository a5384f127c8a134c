# SPDX-License-Identifier: BSD-3-Clause
"""ETRecords: every way to make one, and what comes back from the file."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch
from torch.export import ExportedProgram, export

import executorch.export
from executorch.devtools import ETRecord, generate_etrecord, parse_etrecord
from executorch.exir import EdgeProgramManager, to_edge, to_edge_transform_and_lower
from executorch.exir.backend.test.op_partitioner_demo import AddMulPartitionerDemo
from executorch.exir.error import ExportError
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.export import ExportRecipe


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(a) + b) * b


INPUTS = (torch.randn(2, 2), torch.randn(2, 2))


def check(record: ETRecord, program: ExportedProgram) -> None:
    """Programs compute what they did; each debug handle of an instruction is a node of the edge program."""
    torch.testing.assert_close(record.exported_program.module()(*INPUTS), program.module()(*INPUTS))
    edge = record.edge_dialect_program
    torch.testing.assert_close(edge.module()(*INPUTS), program.module()(*INPUTS))
    handles = {
        node.meta["debug_handle"] for node in edge.graph.nodes if "debug_handle" in node.meta
    }
    found = set()
    for each in record._debug_handle_map["forward"].values():
        found.update(each if isinstance(each, list) else [each])
    assert found and found <= handles
    (relu,) = (node for node in edge.graph.nodes if node.name == "aten_relu_default")
    assert "return torch.relu(self.linear(a) + b) * b" in relu.meta["stack_trace"]


@pytest.mark.req("DT-011", "CMP-001", "CMP-006")
def test_the_record_of_to_edge(tmp_path: Path) -> None:
    program = export(Model(), INPUTS)
    manager = to_edge(program, generate_etrecord=True).to_backend()
    path = tmp_path / "edge_debug.etrecord"
    manager.to_executorch().get_etrecord().save(path)
    record = parse_etrecord(path)
    check(record, program)
    assert record.export_graph_id == id(program.graph)
    assert record._delegate_map == {"forward": {}}


@pytest.mark.req("DT-011", "CMP-002")
def test_the_record_of_a_delegated_model_holds_the_graph_before(tmp_path: Path) -> None:
    program = export(Model(), INPUTS)
    lowered = to_edge_transform_and_lower(
        program, partitioner=[AddMulPartitionerDemo()], generate_etrecord=True
    )
    assert get_lowered_backend_modules(lowered.exported_program().graph_module)
    path = tmp_path / "debug.etrecord"
    lowered.to_executorch().get_etrecord().save(path)
    record = parse_etrecord(path)
    check(record, program)
    assert not get_lowered_backend_modules(record.edge_dialect_program.graph_module)
    names = {each["name"] for each in record._delegate_map["forward"].values()}
    assert names == {"BackendWithCompilerDemo"}


@pytest.mark.req("DT-011", "CMP-014")
def test_the_record_of_a_session(tmp_path: Path) -> None:
    session = executorch.export(
        model=Model(), example_inputs=[INPUTS], export_recipe=ExportRecipe(), generate_etrecord=True
    )
    path = tmp_path / "model_debug.etrecord"
    session.get_etrecord().save(path)
    check(parse_etrecord(path), session.get_exported_program())


@pytest.mark.req("DT-012", "DT-C02", "DT-C06")
@pytest.mark.parametrize("copied_first", [True, False])
def test_a_record_by_hand(tmp_path: Path, copied_first: bool) -> None:
    program = export(Model(), INPUTS, strict=True)
    edge_program = to_edge(program)
    lowered_from: EdgeProgramManager = copy.deepcopy(edge_program) if copied_first else edge_program
    executorch_program = lowered_from.to_executorch()
    path = str(tmp_path / "debug.etrecord")
    extra = {"before": edge_program, "again": program}
    generate_etrecord(path, edge_program, executorch_program, program, extra)
    record = parse_etrecord(path)
    check(record, program)
    assert set(record.graph_map) == {"before/forward", "again/forward"}


@pytest.mark.req("DT-031")
def test_every_call_has_a_handle_of_its_own() -> None:
    class Twice(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.sin(torch.sin(x) + x) + x

    edge = to_edge(export(Twice(), (torch.ones(3),)))
    handles = [
        node.meta["debug_handle"]
        for node in edge.exported_program().graph.nodes
        if node.op == "call_function"
    ]
    assert len(handles) == 4 == len(set(handles)) and min(handles) > 0


def test_inputs_and_outputs_come_back(tmp_path: Path) -> None:
    program = export(Model(), INPUTS)
    record = to_edge(program, generate_etrecord=True).to_executorch().get_etrecord()
    record.update_representative_inputs([*INPUTS, 3])
    record.update_reference_outputs([program.module()(*INPUTS)])
    record.save(tmp_path / "r.etrecord")
    again = parse_etrecord(tmp_path / "r.etrecord")
    assert again._representative_inputs[2] == 3
    torch.testing.assert_close(again._representative_inputs[:2], [*INPUTS])
    torch.testing.assert_close(again._reference_outputs["forward"][0], program.module()(*INPUTS))


def test_wrong_use_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="generate_etrecord=True"):
        to_edge(export(Model(), INPUTS)).to_executorch().get_etrecord()
    other = tmp_path / "other"
    other.write_bytes(b"no record")
    with pytest.raises(ExportError, match=r"expected a file that ETRecord\.save wrote"):
        parse_etrecord(other)
    with pytest.raises(ExportError, match="'exported_program' is taken"):
        ETRecord().add_extra_export_modules({"exported_program": export(Model(), INPUTS)})
