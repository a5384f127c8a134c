# SPDX-License-Identifier: BSD-3-Clause
"""--inputs and --shape: which sizes a method takes, what it runs on, and that run, bench and doctor say so."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.export import Dim, export

from executorch.cli import main
from executorch.devtools.commands.arguments.options import Shape, add_inputs, shape
from executorch.devtools.commands.inputs.declared import declared, sizes_of
from executorch.devtools.commands.inputs.used import used_inputs
from executorch.devtools.commands.program_file import plan_of
from executorch.exir import to_edge


class Mixed(torch.nn.Module):
    def forward(
        self, x: torch.Tensor, y: torch.Tensor, ids: torch.Tensor, mask: torch.Tensor, k: int
    ) -> torch.Tensor:
        rows = (x + y[::2]).sum(1) * k
        return torch.where(mask, rows, rows - 1) + ids.to(torch.float32)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """x (n, 3) and y (2 n, 3) for n from 4 to 8; the rest is fixed."""
    n = Dim("n", min=4, max=8)
    given = (torch.ones(5, 3), torch.ones(10, 3), torch.tensor([1]), torch.tensor([True]), 7)
    shapes = ({0: n}, {0: 2 * n}, None, None, None)
    path = tmp_path_factory.mktemp("programs") / "mixed.pte"
    exported = export(Mixed(), given, dynamic_shapes=shapes)
    to_edge(exported).to_executorch().save(str(path))
    return path


def options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_inputs(parser)
    return parser.parse_args(words)


def test_sizes_of_interest_are_read() -> None:
    assert shape("image=1x3x64x64") == Shape("image", (1, 3, 64, 64))
    assert shape("0=8:int64") == Shape("0", (8,), "int64")
    assert shape("x=") == Shape("x", ())
    for wrong in ("image", "=3", "image=3xx4", "image=-1", "image=a", "image=3:"):
        with pytest.raises(argparse.ArgumentTypeError, match="expected INPUT=1x3x64x64, found"):
            shape(wrong)


def test_what_is_not_asked_for_goes_with_what_is(program: Path) -> None:
    """y has 2 n rows where x has n; without any wish both are at their largest."""
    inputs = declared(plan_of(program))
    assert sizes_of(inputs, {}) == {0: (8, 3), 1: (16, 3), 2: (1,), 3: (1,)}
    assert sizes_of(inputs, {0: (6, 3)})[1] == (12, 3)
    assert sizes_of(inputs, {1: (10, 3)})[0] == (5, 3)


@pytest.mark.parametrize(
    "asked, message",
    [
        (["x=9x3"], "input 0 (x): expected a size from 4 to 8 in dimension 0, found 9"),
        (["0=3x3"], "input 0 (x): expected a size from 4 to 8 in dimension 0, found 3"),
        (["0=5x4"], "input 0 (x): expected size 3 in dimension 1, which the export fixed"),
        (["0=5"], "input 0 (x): expected 2 dimensions, at most 8x3, found 5"),
        (
            ["1=11x3"],
            "input 1 (y): expected 2 * n + 0 for a whole number n in dimension 0, found 11",
        ),
        (
            ["0=5x3", "1=12x3"],
            "input 1 (y): expected 10 in dimension 0, to go with input 0 (x), found 12",
        ),
        (["2=1:int32"], "input 2 (ids): expected int64, found int32"),
        (["4=1"], "input 4 (k): it has no sizes: it is 7, as exported"),
        (["image=1"], "image: expected an input of 0 (x), 1 (y), 2 (ids), 3 (mask), 4 (k)"),
        (["0=5x3", "0=6x3"], "input 0 (x): it is given twice"),
    ],
)
@pytest.mark.parametrize("command", ["run", "bench", "doctor"])
def test_sizes_that_a_program_does_not_take_are_refused(
    command: str, asked: list[str], message: str, program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [word for each in asked for word in ("--shape", each)]
    assert main.main([command, str(program), *words]) == main.FAILED
    assert message in capsys.readouterr().err


def test_names_stand_beside_numbers(program: Path) -> None:
    names = ["image", "twice", "ids", "mask", "k"]
    plan = plan_of(program)
    assert [each.name for each in declared(plan)] == ["x", "y", "ids", "mask", "k"]
    plan.input_name_lines = None  # an older file, and names of a record
    used = used_inputs(plan, options("--shape", "image=6x3"), names=names)
    assert [each.shape for each in used[:2]] == [[6, 3], [12, 3]]
    plan.input_name_lines = "\n".join(names)  # a file that has them
    assert used_inputs(plan, options("--shape", "image=6x3"))[1].shape == [12, 3]
    with pytest.raises(ValueError, match=r"x: expected an input of 0 \(image\), 1 \(twice\), 2"):
        used_inputs(plan, options("--shape", "x=6x3"))


def test_drawn_values_are_of_the_dtype_and_said(program: Path) -> None:
    used = used_inputs(plan_of(program), options("--seed", "3"))
    assert [each.dtype for each in used] == ["float32", "float32", "int64", "bool", "int"]
    assert [each.source for each in used] == [
        "standard normal, seed 3",
        "standard normal, seed 3",
        "0 or 1, seed 3",
        "all true",
        "as exported",
    ]
    assert used[3].value.all() and used[4].value == 7
    other = used_inputs(plan_of(program), options("--seed", "4"))
    assert not np.array_equal(used[0].value, other[0].value)


def test_values_of_files(program: Path, tmp_path: Path) -> None:
    x, y = np.ones((4, 3), np.float32), np.ones((8, 3), np.float32)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    np.savez(tmp_path / "both.npz", x, **{"1": y})
    torch.save((torch.from_numpy(x), torch.from_numpy(y)), tmp_path / "both.pt")
    plan = plan_of(program)
    for files in (["x.npy", "y.npy"], ["1=y.npy", "0=x.npy"], ["both.npz"], ["both.pt"]):
        words = [
            f"{name}{equals}{tmp_path / path}" if equals else str(tmp_path / file)
            for file in files
            for name, equals, path in [file.partition("=")]
        ]
        used = used_inputs(plan, options(*(f"--inputs={word}" for word in words)))
        assert [each.shape for each in used[:2]] == [[4, 3], [8, 3]], files
        assert np.array_equal(used[0].value, x) and used[0].source.startswith("of ")
    used = used_inputs(plan, options("--inputs", str(tmp_path / "x.npy")))
    assert used[1].shape == [8, 3] and used[1].source == "standard normal, seed 0"
    np.save(tmp_path / "double.npy", x.astype(np.float64))
    with pytest.raises(
        ValueError, match=r"double.npy: input 0 \(x\): expected float32, found float64"
    ):
        used_inputs(plan, options("--inputs", str(tmp_path / "double.npy")))
    with pytest.raises(ValueError, match="it is given twice, by --shape"):
        used_inputs(plan, options("--inputs", str(tmp_path / "x.npy"), "--shape", "0=4x3"))


class Last(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x * y).sum((2, 3))


def test_values_lie_as_the_method_takes_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One input has its channels last, the other first; whatever a file's array does."""
    y = torch.arange(24.0).reshape(1, 2, 3, 4)
    x = y.to(memory_format=torch.channels_last)
    path = tmp_path / "last.pte"
    to_edge(export(Last(), (x, y))).to_executorch().save(str(path))
    plan = plan_of(path)
    drawn = used_inputs(plan, options())
    assert [each.value.strides for each in drawn] == [(96, 4, 32, 8), (96, 48, 16, 4)]
    np.savez(tmp_path / "in.npz", y.numpy(), np.asfortranarray(y.numpy()))
    held = used_inputs(plan, options("--inputs", str(tmp_path / "in.npz")))
    recorded = used_inputs(plan, options(), (y, x))
    for used in (held, recorded):
        assert all(np.array_equal(each.value, y) for each in used)
    assert [each.value.stride() for each in recorded] == [(24, 1, 8, 2), (24, 12, 4, 1)]
    words = ["run", str(path), "--inputs", str(tmp_path / "in.npz"), "--top", "2"]
    assert main.main(words) == main.DONE
    printed = capsys.readouterr().out
    # 0 + 1 + 4 + ... + 11^2, and 12^2 + ... + 23^2
    assert "506 at [0, 0]" in printed and "3818 at [0, 1]" in printed


def test_recorded_values_go_before_drawn_ones(program: Path) -> None:
    recorded = (torch.ones(5, 3), torch.ones(10, 3), torch.tensor([1]), torch.tensor([True]), 7)
    plan = plan_of(program)
    sources = [each.source for each in used_inputs(plan, options(), recorded)]
    assert sources == ["of the record"] * 4 + ["as exported"]
    used = used_inputs(plan, options("--shape", "0=6x3"), recorded)
    assert [each.shape for each in used[:2]] == [[6, 3], [12, 3]]
    assert used[1].source.startswith("standard normal") and used[2].source == "of the record"


@pytest.mark.parametrize(
    "words",
    [["run"], ["bench", "--rounds", "1", "--cold", "1"], ["doctor"]],
    ids=["run", "bench", "doctor"],
)
def test_every_report_has_the_sizes_in_its_head(
    words: list[str], program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command, *more = words
    page = tmp_path / "page.html"
    html = [] if command == "run" else ["--html", str(page)]
    given = [command, str(program), "--shape", "0=6x3", *more]
    assert main.main([*given, *html]) == main.DONE
    message = "x: float32[6, 3] (standard normal, seed 0); y: float32[12, 3]"
    head = "\n".join(capsys.readouterr().out.splitlines()[:5])
    assert message in head
    if html:
        assert message in page.read_text()
    assert main.main([*given, "--json"]) == main.DONE
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["inputs"]
    assert [row["shape"] for row in rows] == [[6, 3], [12, 3], [1], [1], []]
    assert [row["from"] for row in rows][2:] == ["0 or 1, seed 0", "all true", "as exported"]
