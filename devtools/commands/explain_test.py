# SPDX-License-Identifier: BSD-3-Clause
"""explain counts every byte once; diff names what changed; pages stand alone."""

from __future__ import annotations

import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import export

from executorch.backends.skeleton.aot.options import SkeletonOptions
from executorch.backends.skeleton.aot.partitioner import SkeletonPartitioner
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.devtools import commands
from executorch.devtools.commands import owners
from executorch.devtools.commands.doctor import examine
from executorch.devtools.commands.program_file import ProgramFile
from executorch.exir import to_edge_transform_and_lower

GOLDEN = sorted((Path(__file__).parents[2] / "test" / "golden").glob("*.pte"))


class Model(torch.nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.conv_layer = torch.nn.Conv2d(3, width, 3)
        self.head = torch.nn.Linear(width, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.conv_layer(x)).mean((2, 3))
        return torch.cumsum(self.head(y), 1)


def save(folder: Path, name: str, partitioner: Any = None, **options: Any) -> Path:
    lowered = to_edge_transform_and_lower(
        export(Model(**options).eval(), (torch.ones(1, 3, 8, 8),)),
        partitioner=partitioner,
        generate_etrecord=True,
    )
    program = lowered.to_executorch()
    path = folder / f"{name}.pte"
    program.save(path)
    program.get_etrecord().save(folder / f"{name}.etrecord")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    torch.manual_seed(0)
    save(folder, "portable")
    torch.manual_seed(0)
    save(folder, "delegated", [XnnpackPartitioner()])
    save(folder, "wide", width=32)
    return folder


def found(capsys: pytest.CaptureFixture[str], *arguments: Any, status: int = 0) -> Any:
    assert commands.main([*map(str, arguments), "--json"]) == status
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda path: path.stem)
def test_every_byte_has_one_owner(golden: Path) -> None:
    file = ProgramFile(golden)
    end = 0
    for each in owners.stretches(file):
        assert each.offset == end and each.num_bytes > 0
        end += each.num_bytes
    assert end == golden.stat().st_size == sum(owners.parts(file).values())
    assert sum(owners.program_parts(file).values()) == owners.parts(file)["program"]


def test_constants_belong_to_operators_and_modules(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = found(
        capsys, "explain", folder / "portable.pte", "--etrecord", folder / "portable.etrecord"
    )
    sizes = {row["operator"]: row["bytes"] for row in report["operators"]}
    # 16 filters of 3x3x3 and 16 biases; 8 rows of 16 and 8 biases
    assert sizes["aten::convolution.out"] == 4 * (16 * 27 + 16)
    assert sizes["aten::linear.out"] == 4 * (8 * 16 + 8)
    modules = {row["module"]: row["bytes"] for row in report["modules"]}
    assert modules == {"conv_layer": 4 * (16 * 27 + 16), "head": 4 * (8 * 16 + 8)}
    assert "self.conv_layer(x)" in report["constants"][0]["line"]
    assert Path(__file__).name in report["constants"][0]["line"]


def test_operators_inside_of_delegates_have_bytes_and_lines(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "delegated.pte"
    report = found(capsys, "explain", path, "--etrecord", folder / "delegated.etrecord")
    (convolution,) = (row for row in report["delegated"] if row["operator"] == "Conv2d")
    assert convolution["bytes"] == 4 * (16 * 27 + 16)
    assert convolution["module"] == "conv_layer" and "self.conv_layer(x)" in convolution["line"]
    (delegate,) = report["delegates"]
    assert delegate["bytes"] == delegate["payload bytes"] + 4 * (16 * 27 + 16 + 8 * 16 + 8)
    kinds = {row["operator"] for row in found(capsys, "explain", path)["delegated"]}
    assert {"Conv2d", "FullyConnected"} <= kinds


def test_diff_names_what_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    same = found(capsys, "diff", folder / "wide.pte", folder / "wide.pte")
    assert same["equal"]
    wider = found(capsys, "diff", folder / "portable.pte", folder / "wide.pte", status=1)
    assert not wider["equal"] and not wider["operators"]
    (constants,) = (row for row in wider["parts"] if row["part"] == "constants")
    assert constants["change"] == 4 * (16 * 27 + 16 + 8 * 16)
    moved = found(capsys, "diff", folder / "portable.pte", folder / "delegated.pte", status=1)
    calls = {row["operator"]: row["change"] for row in moved["operators"]}
    assert calls["aten::convolution.out"] == -1 and calls["XnnpackBackend"] == 1
    assert {"XnnpackBackend: Conv2d"} <= {row["operator"] for row in moved["delegated"]}


class _Page(HTMLParser):
    """The text, and what the page would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.loads += [value for key, value in attrs if key in ("src", "href")]
        if tag not in ("meta", "link", "wbr", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_pages_need_nothing_else(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = folder / "page.html"
    assert commands.main(["explain", str(folder / "delegated.pte"), "--html", str(page)]) == 0
    text = capsys.readouterr().out
    assert "Operators inside of delegates" in text and "Conv2d" in text
    parsed = _Page(page.read_text())
    assert (
        parsed.loads == ["data:,"] and not parsed.open
    )  # an icon of nothing: browsers ask for one
    assert "Conv2d" in page.read_text() and "@import" not in page.read_text()


def test_help_and_wrong_use(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-m", "executorch.devtools", "explain", "no.pte"]
    missing = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert missing.returncode == commands.FAILED and "no.pte" in missing.stderr
    assert "Traceback" not in missing.stderr
    with pytest.raises(SystemExit) as ended:
        commands.main(["--help"])
    overview = capsys.readouterr().out
    assert ended.value.code == 0 and all(f"  {name} " in overview for name in commands.COMMANDS)
    (folder / "text.pte").write_text("not a program, " * 9)
    assert commands.main(["diff", str(folder / "text.pte"), str(folder / "wide.pte")]) == 2
    assert "expected a program file" in capsys.readouterr().err


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_every_command_has_help_with_an_example(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        commands.main([name, "--help"])
    text = capsys.readouterr().out
    assert ended.value.code == 0
    assert f"    {commands.PROGRAM} {name} " in text and "--json" in text and "--html" in text


def test_parts_of_payloads_have_names(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = found(capsys, "explain", folder / "delegated.pte")["delegates"]
    (flatbuffer, size), (constants, none) = (part.split() for part in row["parts"].split(", ", 1))
    assert (flatbuffer, constants, none) == ("flatbuffer", "constants", "0")
    rounded = -(-int(size.replace(",", "")) // 16) * 16
    assert row["payload bytes"] == 32 + rounded  # header, and the graph filled up to 16


def test_options_of_delegates_have_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exported = export(Doubled(), (torch.ones(2),))
    options = {"on": SkeletonOptions(check_finite=True), "off": None}
    for name, given in options.items():
        lowered = to_edge_transform_and_lower(exported, partitioner=[SkeletonPartitioner(given)])
        lowered.to_executorch().save(tmp_path / f"{name}.pte")
    row = {"backend": "SkeletonBackend", "option": "check_finite", "delegates": 1}
    rows = {
        "on": [row | {"value": "True", "from": "file"}],
        "off": [row | {"value": "False", "from": "default"}],
    }
    for name, expected in rows.items():
        path = tmp_path / f"{name}.pte"
        assert found(capsys, "explain", path)["delegate_options"] == expected
        _, tables, _ = examine(ProgramFile(path), None)  # of doctor
        assert [each.rows for each in tables if each.name == "delegate_options"] == [expected]


class Doubled(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + x
