# SPDX-License-Identifier: BSD-3-Clause
"""ETRecords: every way to make one, and what comes back from the file."""

from __future__ import annotations

import copy
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import ExportedProgram, export

import executorch.export
from executorch.devtools import BundledProgram, ETRecord, generate_etrecord, parse_etrecord
from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
from executorch.devtools.etrecord._etrecord import ETRecordReservedFileNames
from executorch.exir import EdgeProgramManager, to_edge, to_edge_transform_and_lower
from executorch.exir.backend.test.op_partitioner_demo import AddMulPartitionerDemo
from executorch.exir.error import ExportError
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.exir.pass_base import ExportPass, PassResult
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
    for kind in (ExportError, RuntimeError):
        with pytest.raises(kind, match="Invalid etrecord file passed in"):
            parse_etrecord(other)
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("some", "file")
    with pytest.raises(RuntimeError, match="identifier missing"):
        parse_etrecord(other)


@pytest.mark.parametrize(
    "name", [*ETRecordReservedFileNames, "my/debug_handle_map", "delegate_map2"]
)
def test_reserved_names_are_refused_before_the_value_is_looked_at(name: str) -> None:
    record = ETRecord()
    with pytest.raises(RuntimeError, match="reserved name"):
        record.add_extra_export_modules({"fine": export(Model(), INPUTS), name: None})
    assert record.graph_map is None


def test_what_is_no_program_is_refused() -> None:
    program = export(Model(), INPUTS)
    for other in (program.graph_module, Model(), 3, None):
        with pytest.raises(RuntimeError, match="Unsupported graph module type"):
            ETRecord().add_extra_export_modules({"before": other})


def test_nothing_is_added_twice() -> None:
    program = export(Model(), INPUTS)
    manager = to_edge(program)
    lowered = manager.to_executorch()
    record = ETRecord()
    for add, given in (
        (record.add_exported_program, program),
        (record.add_edge_dialect_program, manager),
        (record.add_executorch_program, lowered),
    ):
        add(given)
        with pytest.raises(RuntimeError, match="already exists in the ETRecord"):
            add(given)
    for update in (record.update_reference_outputs, record.update_representative_inputs):
        update([*INPUTS])
        update([*INPUTS])
    given = ETRecord()
    given.update_reference_outputs([INPUTS[0]])
    with pytest.raises(RuntimeError, match="already exists in the ETRecord"):
        given.add_executorch_program(lowered)


@pytest.mark.parametrize("left_out", ["edge", "executorch"])
def test_an_incomplete_record_is_not_saved(left_out: str, tmp_path: Path) -> None:
    manager = to_edge(export(Model(), INPUTS))
    record = ETRecord()
    if left_out != "edge":
        record.add_edge_dialect_program(manager)
    if left_out != "executorch":
        record.add_executorch_program(manager.to_executorch())
    with pytest.raises(
        RuntimeError, match="must contain edge dialect program and executorch program"
    ):
        record.save(tmp_path / "r.etrecord")
    assert not (tmp_path / "r.etrecord").exists()


@pytest.mark.parametrize("methods", [("forward",), ("only",), ("forward", "second")])
def test_one_method_is_a_program_and_several_are_a_dict(
    methods: tuple[str, ...], tmp_path: Path
) -> None:
    programs = dict.fromkeys(methods, export(Model(), INPUTS))
    record = to_edge(programs, generate_etrecord=True).to_executorch().get_etrecord()
    record.save(tmp_path / "r.etrecord")
    by_hand = ETRecord()
    by_hand.add_edge_dialect_program(to_edge(programs))
    for each in (record, by_hand, parse_etrecord(tmp_path / "r.etrecord")):
        edge = each.edge_dialect_program
        if len(methods) == 1:
            assert isinstance(edge, ExportedProgram)
        else:
            assert isinstance(edge, dict) and set(edge) == set(methods)
        assert (record.exported_program is None) == ("forward" not in methods)


def test_the_record_of_an_older_program_stays_when_a_step_makes_another() -> None:
    manager = to_edge(export(Model(), INPUTS), generate_etrecord=True)
    first = manager._etrecord.edge_dialect_program

    class Touch(ExportPass):
        def call(self, graph_module: torch.fx.GraphModule) -> PassResult:
            return PassResult(copy.deepcopy(graph_module), True)

    changed = manager.transform([Touch()])
    assert changed._etrecord.edge_dialect_program is changed.exported_program()
    assert manager._etrecord.edge_dialect_program is first


def bundled(lowered: Any, *cases: MethodTestCase) -> BundledProgram:
    return BundledProgram(lowered, [MethodTestSuite("forward", list(cases))])


def test_a_bundled_program_brings_inputs_and_outputs(tmp_path: Path) -> None:
    program = export(Model(), INPUTS)
    manager = to_edge(program)
    lowered = manager.to_executorch()
    twice = tuple(2 * each for each in INPUTS)
    expected = [program.module()(*given) for given in (INPUTS, twice)]
    cases = [MethodTestCase(INPUTS, (expected[0],)), MethodTestCase(twice, (expected[1],))]
    path = tmp_path / "r.etrecord"
    generate_etrecord(path, manager, bundled(lowered, *cases))
    record = parse_etrecord(path)
    assert set(record._debug_handle_map) == {"forward"}
    torch.testing.assert_close(record._representative_inputs, list(INPUTS))
    torch.testing.assert_close(record._reference_outputs, {"forward": [[e] for e in expected]})
    other = ETRecord()
    other.update_reference_outputs(bundled(lowered, *cases))
    other.update_representative_inputs(bundled(lowered, *cases))
    torch.testing.assert_close(other._reference_outputs["forward"][1], [expected[1]])
    torch.testing.assert_close(other._representative_inputs, list(INPUTS))


def test_a_bundled_program_must_have_what_is_asked_of_it() -> None:
    lowered = to_edge(export(Model(), INPUTS)).to_executorch()
    with pytest.raises(ValueError, match="Missing at least one set of expected outputs"):
        ETRecord().add_executorch_program(bundled(lowered, MethodTestCase(INPUTS)))
    for add in (ETRecord().update_representative_inputs, ETRecord().add_executorch_program):
        with pytest.raises(ValueError, match="no corresponding input test cases"):
            add(bundled(lowered))
    two = to_edge({"two": export(Model(), INPUTS)}).to_executorch()
    record = ETRecord()
    record.update_representative_inputs(BundledProgram(two, []))
    assert record._representative_inputs is None


def test_a_copy_has_the_programs_alone() -> None:
    record = to_edge(export(Model(), INPUTS), generate_etrecord=True).to_executorch().get_etrecord()
    record.update_representative_inputs([*INPUTS])
    other = record.copy()
    assert other.exported_program is record.exported_program
    assert other.edge_dialect_program is record.edge_dialect_program
    assert other.export_graph_id == record.export_graph_id
    assert other._debug_handle_map is None and other._representative_inputs is None


def test_a_record_holds_what_an_input_shows(tmp_path: Path) -> None:
    """The input is 1/5000 of the memory that it is a view of, as are what is given besides."""
    whole = torch.randn(5000, 2, 2)
    view = (whole[17], whole[4000])
    record = to_edge(export(Model(), view), generate_etrecord=True).to_executorch().get_etrecord()
    record.update_representative_inputs([*view])
    record.update_reference_outputs([whole[3]])
    path = tmp_path / "r.etrecord"
    record.save(path)
    assert whole.nbytes == 80_000 and path.stat().st_size < 60_000
    with zipfile.ZipFile(path) as archive:
        sizes = [each.file_size for each in archive.infolist() if "inputs" in each.filename]
    assert len(sizes) == 3 and max(sizes) < 4_000
    again = parse_etrecord(path)
    torch.testing.assert_close(again._representative_inputs, [*view])
    torch.testing.assert_close(again._reference_outputs["forward"], [whole[3]])
    torch.testing.assert_close(again.exported_program.example_inputs[0], view)
