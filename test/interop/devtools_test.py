# SPDX-License-Identifier: BSD-3-Clause
"""Dumps, records and bundled programs, both ways: the tools of each side read the files of the other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.devtools import BundledProgram, Inspector, commands
from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
from executorch.devtools.bundled_program.serialize import (
    deserialize_from_flatbuffer_to_bundled_program,
    serialize_from_bundled_program_to_flatbuffer,
)
from executorch.exir import to_edge, to_edge_transform_and_lower
from executorch.runtime import Runtime
from executorch.test.interop import peer

pytestmark = pytest.mark.interop
X = torch.linspace(-1, 1, 2 * 3 * 9 * 9).reshape(2, 3, 9, 9)


class Network(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3)
        self.head = torch.nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.conv(x)).mean((2, 3))
        return torch.cumsum(self.head(y), 1)


class Case:
    """A run of ours with its record, and what both sides' tools say about it."""

    def __init__(self, name: str, folder: Path) -> None:
        torch.manual_seed(2)
        backends = [XnnpackPartitioner()] if name == "xnnpack" else None
        program = to_edge_transform_and_lower(
            torch.export.export(Network().eval(), (X,)),
            partitioner=backends,
            generate_etrecord=True,
        ).to_executorch()
        record = program.get_etrecord()
        record.update_representative_inputs([X])
        self.record, self.dump = folder / f"{name}.etrecord", folder / f"{name}.etdp"
        self.values, self.there = folder / f"{name}.bin", folder / f"{name}.json"
        self.rewritten = folder / f"{name}.theirs.etrecord"
        record.save(self.record)
        loaded = Runtime.get().load_program(
            program.buffer, enable_etdump=True, debug_buffer_size=1 << 20
        )
        for _ in range(3):
            loaded.load_method("forward").execute((X,))
        loaded.write_etdump_result_to_file(self.dump, self.values)

    def job(self) -> peer.Job:
        return {
            "do": "inspect",
            "dump": str(self.dump),
            "values": str(self.values),
            "record": str(self.record),
            "rewritten": str(self.rewritten),
            "out": str(self.there),
        }

    def inspector(self, record: Path) -> Inspector:
        return Inspector(
            etdump_path=str(self.dump),
            etrecord=str(record),
            debug_buffer_path=str(self.values),
            enable_module_hierarchy=True,
        )


class Sum(torch.nn.Module):
    def forward(self, x: torch.Tensor, count: int) -> torch.Tensor:
        return x + count


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, version: str) -> Path:
    return tmp_path_factory.mktemp(f"devtools-{version}")


@pytest.fixture(scope="module")
def bundle(folder: Path) -> Path:
    x = torch.arange(6.0).reshape(2, 3)
    program = to_edge(torch.export.export(Sum(), (x, 3))).to_executorch()
    cases = [MethodTestCase([x, 3], [x + 3]), MethodTestCase([-x, 3])]
    made = BundledProgram(program, [MethodTestSuite("forward", cases)])
    path = folder / "ours.bpte"
    path.write_bytes(serialize_from_bundled_program_to_flatbuffer(made))
    return path


@pytest.fixture(scope="module")
def cases(folder: Path, bundle: Path, version: str) -> dict[str, Case]:
    made = {name: Case(name, folder) for name in ("portable", "xnnpack")}
    rebundle = {"do": "rebundle", "bundle": str(bundle), "out": str(folder / "theirs.bpte")}
    peer.do([*(case.job() for case in made.values()), rebundle], folder, version)
    return made


def table(inspector: Inspector) -> list:
    rows = []
    for block in inspector.event_blocks:
        for event in block.events:
            raw = event.perf_data.raw if event.perf_data else None
            traces = sorted(event.stack_traces.items())
            rows.append([block.name, event.name, raw, event.op_types, traces])
    return rows


@pytest.mark.parametrize("name", ["portable", "xnnpack"])
def test_tables_are_equal(cases: dict[str, Case], name: str) -> None:
    case = cases[name]
    there = json.loads(peer.result(case.there).read_text())
    here = case.inspector(case.record)
    rows = json.loads(json.dumps(table(here)))
    assert len(rows) == len(there["table"]) > 5
    for ours, theirs in zip(rows, there["table"]):
        block, event, raw, op_types, traces = ours
        assert [block, event] == theirs[:2]
        assert raw == pytest.approx(theirs[2], abs=1e-8)  # milliseconds of whole nanoseconds
        if theirs[3]:  # upstream knows nothing of the operators inside XNNPACK
            assert (op_types, traces) == (theirs[3], theirs[4])
    gaps = here.calculate_numeric_gap("MSE")
    assert len(gaps) == len(there["gaps"])
    assert [gap[0] for gap in gaps["gap"]] == pytest.approx(there["gaps"], rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("name", ["portable", "xnnpack"])
def test_records_that_upstream_wrote(cases: dict[str, Case], name: str) -> None:
    case = cases[name]
    peer.result(case.there)
    assert table(case.inspector(case.rewritten)) == table(case.inspector(case.record))


def test_dumps_that_upstream_wrote(cases: dict[str, Case], folder: Path) -> None:
    case = cases["portable"]
    theirs = Path(f"{case.there}.etdp")
    peer.result(theirs)
    ours = Inspector(etdump_path=str(case.dump), debug_buffer_path=str(case.values))
    again = Inspector(etdump_path=str(theirs), debug_buffer_path=str(case.values))
    assert table(again) == table(ours)


def test_bundled_programs(cases: dict[str, Case], bundle: Path, folder: Path) -> None:
    theirs = peer.result(folder / "theirs.bpte").read_bytes()
    read = deserialize_from_flatbuffer_to_bundled_program(bundle.read_bytes())
    assert deserialize_from_flatbuffer_to_bundled_program(theirs) == read


@pytest.mark.parametrize("partitioner", [None, "xnnpack"])
def test_commands_take_what_upstream_lowered(
    partitioner: str | None, folder: Path, version: str
) -> None:
    """Its delegates fuse activations into operators, whose values are then cut."""
    stem = f"theirs_{partitioner}"
    exported, file, record = (folder / f"{stem}.{end}" for end in ("pt2", "pte", "etrecord"))
    torch.manual_seed(2)
    torch.export.save(torch.export.export(Network().eval(), (X,)), exported)
    job = peer.lower_job({"forward": exported}, file, partitioner=partitioner, record=record)
    peer.do([job], folder, version)
    inputs = folder / "inputs.pt"
    torch.save((X,), inputs)
    given = ["--inputs", str(inputs)]
    assert commands.main(["bisect", str(peer.result(record)), str(file), *given]) == 0
    assert commands.main(["doctor", str(file), "--etrecord", str(record)]) == 0
