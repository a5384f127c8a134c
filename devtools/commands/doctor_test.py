# SPDX-License-Identifier: BSD-3-Clause
"""doctor names what is planted in a model: its line, its reason, its bytes; before lowering and after."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import export

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.devtools import commands
from executorch.devtools.commands import doctor as doctor_command
from executorch.devtools.commands.arguments.options import XNNPACK
from executorch.devtools.commands.findings.measured import below_machine
from executorch.devtools.commands.origins import Origins
from executorch.devtools.commands.planned import Planned, alive_bytes
from executorch.devtools.commands.program_file import ProgramFile
from executorch.devtools.costs.machine import KERNELS, Engine, Machine
from executorch.devtools.costs.timing import timed, traced
from executorch.devtools.devices.job import Job
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.program._etrecord import parse_etrecord


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(64, 64)
        self.second = torch.nn.Linear(64, 64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.first(x))
        y = torch.cumsum(y, 1)
        y = y.to(torch.float64).to(torch.float32)
        return self.second(y)


@pytest.fixture(scope="module", autouse=True)
def rates_of_this_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Those of the user's own machine stay as they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("rates")))
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    exported = export(Model(), (torch.ones(16, 64),))
    torch.export.save(exported, folder / "model.pt2")
    lowered = to_edge_transform_and_lower(
        exported, partitioner=[XnnpackPartitioner()], generate_etrecord=True
    )
    program = lowered.to_executorch()
    program.save(folder / "model.pte")
    program.get_etrecord().save(folder / "model.etrecord")
    return folder


def doctor(
    capsys: pytest.CaptureFixture[str], *arguments: Any, status: int = 0
) -> dict[str, dict[str, Any]]:
    """Findings by their text."""
    assert commands.main(["doctor", *map(str, arguments), "--json"]) == status
    report = json.loads(capsys.readouterr().out)
    assert all(row["next step"] for row in report["findings"])
    return {row["finding"]: row for row in report["findings"]}


class Trains(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.drop = torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(self.drop(self.norm(x)), 1)


def test_a_model_that_trains_is_said_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
) -> None:
    torch.export.save(export(Trains(), (torch.ones(4, 8),)), tmp_path / "trains.pt2")
    torch.export.save(export(Trains().eval(), (torch.ones(4, 8),)), tmp_path / "rests.pt2")
    found = list(doctor(capsys, tmp_path / "trains.pt2", "--no-run").items())
    what, row = found[0]
    assert what == "the model is in training mode" and len(found) > 1
    assert row["calls"] == 2 and ".eval()" in row["next step"]
    assert "training mode" not in str([each.message for each in recwarn])
    assert what not in doctor(capsys, tmp_path / "rests.pt2", "--no-run")


@pytest.mark.parametrize("model", ["model.pte", "model.pt2"])
def test_what_is_slow_has_a_reason_and_a_line(
    folder: Path, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    record = ["--etrecord", folder / "model.etrecord"] if model == "model.pte" else []
    found = doctor(capsys, folder / model, *record)
    outside = {what: row for what, row in found.items() if what.endswith(" outside of delegates")}
    sums = outside.pop("aten::cumsum.out outside of delegates")
    (of_doubles,) = outside.values()
    assert sums["why"] == "the backend has no such operator" and "float64" in of_doubles["why"]
    assert sums["calls"] == len(sums["layers"]) == 1 and sums["bytes"] == 4 * 16 * 64
    assert (
        of_doubles["calls"] == len(of_doubles["layers"]) == 2
        and of_doubles["bytes"] == (8 + 4) * 16 * 64
    )
    assert "torch.cumsum(y, 1)" in sums["layers"][0]["line"]
    for row in (sums, of_doubles):
        assert row["kind"] == "slow"
        assert row["ms"] == pytest.approx(sum(layer["ms"] for layer in row["layers"]))
        assert float(row["share"].rstrip("%")) <= 100
    (converts,) = (row for what, row in found.items() if what.endswith(" converts"))
    assert converts["calls"] == 2 and converts["bytes"] == (8 + 4) * 16 * 64
    assert "y.to(torch.float64)" in converts["line"]
    assert found["2 calls of delegates"]["calls"] == 2


def test_the_peak_and_who_owns_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = folder / "page.html"
    status = commands.main(
        ["doctor", str(folder / "model.pte"), "--etrecord", str(folder / "model.etrecord")]
        + ["--json", "--html", str(page)]
    )
    report = json.loads(capsys.readouterr().out)
    owners = report["peak of forward"]
    # float64 and the float32 it is made from, or that is made from it
    assert status == 0 and [row["bytes"] for row in owners] == [8 * 16 * 64, 4 * 16 * 64]
    assert "y.to(torch.float64)" in owners[0]["line"]
    (memory,) = (row for row in report["findings"] if row["kind"] == "memory")
    assert memory["bytes"] == (8 + 4) * 16 * 64
    assert page.read_text().count("<rect") >= 5


def test_what_stops_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = doctor(capsys, folder / "model.pte", "--against", "quantized", status=1)
    assert {
        row["kind"] for what, row in found.items() if what in ("aten::cumsum.out", "XnnpackBackend")
    } == {"stops"}
    assert "portable" in found["aten::cumsum.out"]["next step"]


LIBRARY = torch.library.Library("doctor_test", "DEF")
LIBRARY.define("twice(Tensor x) -> Tensor")
LIBRARY.impl("twice", lambda x: x * 2, "CPU")
LIBRARY.impl("twice", torch.empty_like, "Meta")
LIBRARY.define("thrice(Tensor x) -> Tensor")
LIBRARY.impl("thrice", lambda x: x * 3, "CPU")
LIBRARY.impl("thrice", torch.empty_like, "Meta")


def test_an_operator_without_an_out_variant_stops_lowering(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Custom(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.ops.doctor_test.twice(x) + 1

    torch.export.save(export(Custom(), (torch.ones(3),)), folder / "custom.pt2")
    found = doctor(capsys, folder / "custom.pt2", "--backend", "none", status=1)
    (row,) = found.values()
    assert "doctor_test::twice" in row["finding"] and "Missing out variants" in row["why"]
    assert "torch.ops.doctor_test.twice(x) + 1" in row["line"] and "out=" in row["next step"]

    class Both(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.ops.doctor_test.twice(x) + torch.ops.doctor_test.thrice(x)

    torch.export.save(export(Both(), (torch.ones(3),)), folder / "both.pt2")
    found = doctor(capsys, folder / "both.pt2", "--backend", "none", status=1)
    assert list(found) == ["2 operators that cannot be part of a program"]
    (row,) = found.values()
    assert ["twice" in layer["layer"] for layer in row["layers"]].count(True) == 1


def test_the_fastest_backend_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of those that are here, and kernels alone; what a backend leaves is counted."""
    assert commands.main(["doctor", str(folder / "model.pt2"), "--all-backends", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    rows = {row["backend"]: row for row in report["backends"]}
    times = [row["ms"] for row in report["backends"]]
    assert {"none", "xnnpack"} <= rows.keys() and times == sorted(times)
    assert rows["none"]["delegates"] == 0 < rows["xnnpack"]["operators outside"]
    assert rows["xnnpack"]["delegates"] == 2
    first, second = report["backends"][:2]
    message = f"{first['backend']} is the fastest here; {second['backend']} takes "
    assert any(line.startswith((message, f"{first['backend']} and ")) for line in report["summary"])
    assert commands.main(["doctor", str(folder / "model.pte"), "--all-backends"]) == 2
    assert "expected a .pt2 or a model" in capsys.readouterr().err


def test_wrong_use(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.main(["doctor", str(folder / "model.pt2"), "--backend", "Other"]) == 2
    assert "expected none or a backend" in capsys.readouterr().err


def test_memory_that_is_shared_counts_once() -> None:
    def tensor(offset: int, size: int, first: int, last: int) -> Planned:
        return Planned(0, 1, offset, size, (size,), torch.uint8, first, last, None)

    a, view, b = tensor(0, 64, 0, 1), tensor(16, 16, 1, 1), tensor(64, 32, 1, 2)
    assert alive_bytes([a, view, b], 3) == [64, 96, 32]


SOURCE = """
import torch

class Branches(torch.nn.Module):
    def forward(self, x):
        y = torch.relu(x)
        if y.sum() > 3:
            y = y + 1
        count = int(y.max())
        return y.repeat(count, 1)

def make():
    return Branches(), (torch.ones(2, 3),)

fine = (torch.nn.Linear(3, 3), (torch.ones(2, 3),))
number = 3
"""


def test_graph_breaks_of_a_model_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model.py").write_text(SOURCE)
    found = doctor(capsys, f"{tmp_path / 'model.py'}:make", status=1)
    kinds = [row["kind"] for row in found.values()]
    assert kinds[0] == "stops" and set(kinds[1:]) <= {"break"}
    lines = [row["line"] for row in found.values()]
    assert "model.py:7: if y.sum() > 3" in lines[0]
    assert any("model.py:9: count = int(y.max())" in line for line in lines[1:])
    assert all("torch.cond" in row["next step"] for row in found.values())
    doctor(capsys, f"{tmp_path / 'model.py'}:fine", "--no-run", status=0)
    assert commands.main(["doctor", f"{tmp_path / 'model.py'}:number"]) == 2
    assert "expected (module, inputs)" in capsys.readouterr().err
    assert commands.main(["doctor", "no.such.module:number"]) == 2


def test_operators_below_the_machine_are_named(folder: Path) -> None:
    """Of a machine that is infinitely fast all that take time are; of one that does nothing, none."""
    file = ProgramFile(folder / "model.pte")
    record = parse_etrecord(folder / "model.etrecord")
    infinite, still = (Machine({KERNELS: Engine(rate, rate, 0.0)}) for rate in (1e30, 1.0))
    events = traced(Job(file.data, "forward", [torch.randn(16, 64)]), record)
    measured, origins = timed(events, record), Origins(record)
    found = below_machine(measured, "forward", origins, infinite)
    assert found and all(each.lines and "doctor_test.py:" in each.lines[0] for each in found)
    assert all("% of the machine's expected speed" in each.what for each in found)
    assert below_machine(measured, "forward", origins, still) == []


def test_what_stays_outside_is_foretold(folder: Path) -> None:
    """By the edge program alone: the names of the calls that the file has outside."""
    record = parse_etrecord(folder / "model.etrecord")
    found_reasons = doctor_command.forecast(["XnnpackBackend"], record)
    assert sorted(name.rpartition("_default")[0] for name in found_reasons) == [
        "aten_cumsum",
        "dim_order_ops__to_dim_order_copy",
        "dim_order_ops__to_dim_order_copy",
    ]
    assert all(found_reasons.values())


def test_a_record_that_was_read_gives_the_same_reason(tmp_path: Path) -> None:
    """Reading brings back the results of layer_norm that nothing reads."""

    class Norm(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = torch.nn.LayerNorm(64)
            self.linear = torch.nn.Linear(64, 64)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.linear(self.norm(self.linear(x)))

    program = to_edge_transform_and_lower(
        export(Norm(), (torch.ones(4, 64),)),
        partitioner=[XnnpackPartitioner()],
        generate_etrecord=True,
    ).to_executorch()
    program.get_etrecord().save(tmp_path / "norm.etrecord")
    read = parse_etrecord(tmp_path / "norm.etrecord")
    reasons = [doctor_command.forecast([XNNPACK], each) for each in (program.get_etrecord(), read)]
    assert reasons[0] == reasons[1] and "faster" in reasons[0]["aten_native_layer_norm_default"]


def test_sizes_that_are_asked_for_slow_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Ramp(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = torch.relu(x)
            return torch.sin(y + torch.arange(2 * y.shape[0])[: y.shape[0], None])

    rows = torch.export.Dim("rows", max=64)
    exported = export(Ramp(), (torch.ones(8, 3),), dynamic_shapes=({0: rows},))
    program = to_edge_transform_and_lower(
        exported, partitioner=[XnnpackPartitioner()]
    ).to_executorch()
    program.save(tmp_path / "ramp.pte")
    names = {call.name for call in ProgramFile(tmp_path / "ramp.pte").calls}
    assert "aten::sym_size.int" in names
    findings = doctor(capsys, tmp_path / "ramp.pte")
    outside = findings["3 operators outside of delegates"]
    operators = {layer["operator"] for layer in outside["layers"]}
    assert "aten::arange.start_out" in operators
    assert not [name for name in operators if "sym_size" in name or "executorch_prim" in name]
    commands.main(["doctor", str(tmp_path / "ramp.pte")])
    assert "--etrecord" in capsys.readouterr().out


def test_one_piece_of_advice_stands_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """19 layers with an operator that no backend takes: one row, which names three of them and keeps all."""

    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(8, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cumsum(self.linear(x), 1)

    net = torch.nn.Sequential(*[Layer() for _ in range(19)])
    torch.export.save(export(net, (torch.ones(2, 8),)), tmp_path / "net.pt2")
    assert commands.main(["doctor", str(tmp_path / "net.pt2"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    steps = [row["next step"] for row in report["findings"] if row["kind"] == "slow"]
    assert len(steps) == len(set(steps))
    (row,) = (row for row in report["findings"] if "outside of delegates" in row["finding"])
    assert {layer["layer"] for layer in row["layers"]} == {str(number) for number in range(19)}
    assert row["ms"] > 0 and row["share"].endswith("%")
    assert commands.main(["doctor", str(tmp_path / "net.pt2")]) == 0
    assert ", and 16 more" in capsys.readouterr().out
