# SPDX-License-Identifier: BSD-3-Clause
"""The folder for a device: programs with their cases, and a script that tells which are right there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import torch

from executorch.backends.test.device_check.__main__ import main
from executorch.backends.test.device_check.programs import with_cases
from executorch.exir import to_edge_transform_and_lower
from executorch.test.e2e import build_tree

NAMES = ["layers/Linear", "layers/GRU", "sorting/argsort", "networks/llama_kv"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("check")
    assert main(["xnnpack", str(folder), *NAMES]) == 0
    return folder


def check(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return build_tree.run("sh", folder / "check.sh", *arguments)


def test_every_program_is_run_and_timed(folder: Path) -> None:
    """What no delegate takes is left out with its reason; caches go on from case to case."""
    done = check(folder, build_tree.binary("executor_runner"))
    assert done.returncode == 0, done.stdout + done.stderr
    *lines, last = done.stdout.splitlines()
    names = [line.split()[1] for line in lines]
    assert "networks_llama_kv" in names
    assert any(name.startswith("layers_Linear") for name in names)
    assert all(line.startswith("ok") and float(line.split()[2]) > 0 for line in lines)
    assert last == f"{len(lines)} of {len(lines)} programs are right"
    assert len([*folder.glob("*.pte")]) == len(lines)


def test_what_is_wrong_is_told(folder: Path, tmp_path: Path) -> None:
    class Twice(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    x = torch.ones(3)
    buffer = to_edge_transform_and_lower(torch.export.export(Twice(), (x,))).to_executorch().buffer
    (tmp_path / "check.sh").write_text((folder / "check.sh").read_text())
    for name, result in (("right", x * 2), ("wrong", x * 3)):
        (tmp_path / f"{name}.pte").write_bytes(with_cases(buffer, [(x,)], [[result]], 1e-3))
    (tmp_path / "none.pte").write_bytes(buffer)
    done = check(tmp_path, build_tree.binary("executor_runner"))
    assert done.returncode == 1
    heads = [line.split()[:2] for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert heads == [["FAIL", "none"], ["ok", "right"], ["FAIL", "wrong"], ["1", "of"]]
    assert "carries no self-test" in done.stdout
    assert check(tmp_path, build_tree.binary("executor_runner"), "right").returncode == 0


@pytest.mark.full
def test_a_language_model_goes_on_from_its_prompt(tmp_path: Path) -> None:
    assert main(["xnnpack", str(tmp_path), "networks/llama"]) == 0
    done = check(tmp_path, build_tree.binary("executor_runner"), "networks_llama")
    assert done.stdout.endswith("2 of 2 programs are right\n"), done.stdout


def test_the_script_says_what_it_needs(folder: Path) -> None:
    assert "expected a program that can be run" in check(folder, "/nowhere").stderr
    done = check(folder, build_tree.binary("executor_runner"), "no such program")
    assert done.returncode == 2 and "device_check writes them" in done.stderr
