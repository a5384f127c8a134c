# SPDX-License-Identifier: BSD-3-Clause
"""bench tells a slower program from a faster one, and an equal one from neither."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import torch
from torch.export import export

from executorch.devtools import commands
from executorch.devtools.commands.bench import compare
from executorch.devtools.commands.output.svg import histogram, span
from executorch.exir import to_edge
from executorch.version import __version__


class Sums(torch.nn.Module):
    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def forward(self, x: torch.Tensor, by: int, flag: bool) -> torch.Tensor:
        for _ in range(self.count):
            x = torch.cumsum(x, 0)
        return x


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    for count in (1, 8):
        program = to_edge(export(Sums(count), (torch.ones(256, 256), 1, True))).to_executorch()
        program.save(folder / f"sums{count}.pte")
    return folder


def test_eight_times_the_work(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(folder / "sums1.pte"), str(folder / "sums8.pte")]
    page = folder / "bench.html"
    options = ["--rounds", "8", "--cold", "1", "--threads", "1", "--json", "--html", str(page)]
    assert commands.main(["bench", *files, *options]) == 0
    report = json.loads(capsys.readouterr().out)
    (row,) = report["compared"]
    assert row["low"] <= row["ratio"] <= row["high"]
    assert row["differs"] and row["low"] > 1.5
    one, eight = report["files"]
    assert one["p50 ms"] < eight["p50 ms"] and one["min ms"] <= one["p50 ms"] <= one["p99 ms"]
    assert one["cold load and run ms"] > one["cold load ms"] > 0
    assert one["peak bytes"] >= 0 and "<svg" in page.read_text()


def test_two_builds_and_where_the_time_goes(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The other interpreter is this one by another name."""
    other = tmp_path / "python"
    other.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    other.chmod(0o755)
    file = str(folder / "sums8.pte")
    options = ["--rounds", "3", "--cold", "1", "--python", str(other), "--json"]
    assert commands.main(["bench", file, *options]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["build"] for row in report["files"]] == [__version__] * 2
    assert len(report["compared"]) == 1 and f"sums8.pte by {other}" in report["title"]
    (kind,) = report["kinds"]
    assert (kind["operator"], kind["count"]) == ("cumsum.out", 8) and "other kinds" not in report
    other.write_text("#!/bin/sh\necho no such module >&2; exit 1\n")
    assert commands.main(["bench", file, *options]) == commands.FAILED
    assert f"sums8.pte by {other} does not run: no such module" in capsys.readouterr().err


def test_what_does_not_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "text.pte").write_text("not a program")
    assert commands.main(["bench", str(folder / "text.pte"), "--cold", "1"]) == commands.FAILED
    assert "text.pte: expected a program file" in capsys.readouterr().err
    assert commands.main(["bench", str(folder / "no.pte")]) == commands.FAILED
    assert commands.main(["bench", str(folder / "sums1.pte"), "--rounds", "0"]) == commands.FAILED
    assert "--rounds: expected at least 1, found 0" in capsys.readouterr().err


def test_the_interval() -> None:
    # times of b are those of a by 2, but for noise that is the same up and down
    a = [[100, 100, 100], [200, 200, 200], [100, 100, 100], [50, 50, 50]]
    b = [[200, 200, 200], [400, 400, 400], [200, 200, 200], [100, 100, 100]]
    found = compare(a, b)
    assert found == {
        "ratio": pytest.approx(2),
        "low": pytest.approx(2),
        "high": pytest.approx(2),
        "differs": True,
    }
    up_and_down = compare(a, [[110], [180], [110], [45]])
    assert not up_and_down["differs"] and up_and_down["low"] < 1 < up_and_down["high"]


def test_the_histogram_counts_the_slowest_apart() -> None:
    values = [1.0] * 50 + [2.0] * 149 + [500.0]
    picture = histogram("Times", values, "ms", span(values))
    assert picture.count("<rect") == 60 and "2 ms, 1 beyond" in picture
