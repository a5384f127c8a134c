# SPDX-License-Identifier: BSD-3-Clause
"""A program file carries test cases, runs as before, and executor_runner says which cases pass."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import export

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.devtools import commands
from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
from executorch.devtools.bundled_program.self_tests import self_test_of, with_self_test
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
from executorch.test.e2e import build_tree


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.linear(x).cumsum(1), torch.argmax(x, 1) + count


X = torch.arange(32.0).reshape(4, 8).sin()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("self_test")
    torch.manual_seed(0)
    program = to_edge_transform_and_lower(
        export(Model(), (X, 3)), partitioner=[XnnpackPartitioner()], generate_etrecord=True
    ).to_executorch()
    program.save(folder / "model.pte")
    program.get_etrecord().save(folder / "model.etrecord")
    return folder


@pytest.fixture
def tested(folder: Path, tmp_path: Path) -> Path:
    torch.save((X * 2, 3), tmp_path / "more.pt")
    status = self_test(
        folder / "model.pte", "--etrecord", folder / "model.etrecord",
        "--inputs", tmp_path / "more.pt", "--output", tmp_path / "tested.pte",
    )  # fmt: skip
    assert status == 0
    return tmp_path / "tested.pte"


def self_test(*arguments: Any) -> int:
    return commands.main(["self_test", *map(str, arguments), "--json"])


def runner(path: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    binary = build_tree.binary("executor_runner")
    return build_tree.run(binary, f"--model_path={path}", "--self_test", *flags)


def test_the_runner_runs_every_case(tested: Path) -> None:
    done = runner(tested)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split(",")[0] for line in lines[:2]] == [
        "self-test forward[0]: PASS",
        "self-test forward[1]: PASS",
    ]
    assert lines[2] == "2 of 2 cases pass, rtol 0.001, atol 1e-05"
    assert runner(tested, "--method_name=forward", "--cpu_threads=1").returncode == 0
    assert runner(tested, "--method_name=other").returncode == 1


def test_a_wrong_output_fails_here_and_there(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = (folder / "model.pte").read_bytes()
    first, second = Model()(X, 3)
    wrong = MethodTestCase([X, 3], [first, second])  # of other weights
    path = tmp_path / "wrong.pte"
    path.write_bytes(with_self_test(program, [MethodTestSuite("forward", [wrong])]))
    done = runner(path)
    assert done.returncode == 1
    assert "forward[0]: FAIL" in done.stdout and "0 of 1 cases pass" in done.stdout
    assert "output 0, element 0" in done.stderr
    status = self_test(
        folder / "model.pte", "--etrecord", folder / "model.etrecord",
        "--output", path, "--rtol", "0", "--atol", "0",
    )  # fmt: skip
    rows = json.loads(capsys.readouterr().out)["cases"]
    assert status == int(not all(row["passes"] for row in rows))


def test_the_program_stays_the_same(folder: Path, tested: Path) -> None:
    before, after = (folder / "model.pte").read_bytes(), tested.read_bytes()
    found = [Runtime.get().load_program(data).load_method("forward") for data in (before, after)]
    first, second = (method.execute((X, 3)) for method in found)
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    test = self_test_of(after)
    assert test is not None and (test.rtol, test.atol) == (1e-3, 1e-5)
    assert [len(suite.test_cases) for suite in test.suites] == [2]
    assert self_test_of(before) is None
    suites = [MethodTestSuite("forward", [MethodTestCase([X, 3], [])])]
    again = self_test_of(with_self_test(after, suites, 0.5, 0.25))
    assert again is not None and (again.rtol, again.atol) == (0.5, 0.25)
    assert [len(suite.test_cases) for suite in again.suites] == [1]


def test_wrong_use(folder: Path, tested: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = (folder / "model.pte").read_bytes()
    with pytest.raises(ValueError, match="0 or more, found rtol -1"):
        with_self_test(program, [], rtol=-1)
    with pytest.raises(AssertionError, match="number of input"):
        with_self_test(program, [MethodTestSuite("forward", [MethodTestCase([X], [])])])
    capsys.readouterr()
    assert self_test(folder / "model.pte") == 0
    assert "carries no self-test" in capsys.readouterr().out
    assert self_test(tested) == 0
    assert "rtol 0.001" in capsys.readouterr().out
    done = runner(folder / "model.pte")
    assert done.returncode == 1 and "carries no self-test" in done.stderr
    corrupted = bytearray(tested.read_bytes())
    at = corrupted.index(b"BP08")
    corrupted[at : at + 4] = b"BP09"
    path = tested.with_name("corrupted.pte")
    path.write_bytes(corrupted)
    done = runner(path)
    assert done.returncode == 1 and "corrupted" in done.stderr
