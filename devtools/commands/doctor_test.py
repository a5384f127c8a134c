# SPDX-License-Identifier: BSD-3-Clause
"""doctor names what is planted in a model: its line, its reason, its bytes; before lowering and after."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import export

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.devtools import commands
from executorch.devtools.commands.planned import Planned, alive_bytes
from executorch.exir import to_edge_transform_and_lower


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


@pytest.mark.parametrize("model", ["model.pte", "model.pt2"])
def test_what_is_slow_has_a_reason_and_a_line(
    folder: Path, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    record = ["--etrecord", folder / "model.etrecord"] if model == "model.pte" else []
    found = doctor(capsys, folder / model, *record)
    outside = found["aten::cumsum.out outside of delegates"]
    assert outside["kind"] == "slow" and outside["calls"] == 1
    assert outside["bytes"] == 4 * 16 * 64 and outside["why"]
    assert "torch.cumsum(y, 1)" in outside["line"]
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


def test_wrong_use(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.main(["doctor", str(folder / "model.pt2"), "--backend", "Other"]) == 2
    assert "expected none or a backend" in capsys.readouterr().err


def test_memory_that_is_shared_counts_once() -> None:
    def tensor(offset: int, size: int, first: int, last: int) -> Planned:
        return Planned(0, 1, offset, size, (size,), torch.uint8, first, last, None)

    a, view, b = tensor(0, 64, 0, 1), tensor(16, 16, 1, 1), tensor(64, 32, 1, 2)
    assert alive_bytes([a, view, b], 3) == [64, 96, 32]
