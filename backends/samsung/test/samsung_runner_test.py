# SPDX-License-Identifier: BSD-3-Clause
"""enn_executor_runner on a program of the CPU, and on one whose library is not here."""

from __future__ import annotations

import os
import subprocess
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from executorch.backends.samsung.aot import door
from executorch.backends.samsung.test.graph_cases import Function
from executorch.backends.samsung.test.stand_in import lowered, recording
from executorch.exir import to_edge
from executorch.test.e2e.build_tree import binary


def run(folder: Path, *flags: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(binary("enn_executor_runner")), *flags],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With a program of x + y."""
    model = Function(lambda x, y: x + y)
    program = torch.export.export(model, (torch.ones(2), torch.zeros(2)))
    (tmp_path / "model.pte").write_bytes(to_edge(program).to_executorch().buffer)
    return tmp_path


def test_outputs_are_written(folder: Path) -> None:
    for name, value in (("a.bin", 3), ("b.bin", 4)):
        np.full(2, value, np.float32).tofile(folder / name)
    flags = ["--input=a.bin b.bin", "--num_executions=3", "--warm_up=1", "--dump_statistics"]
    done = run(folder, "--output_path=out", *flags)
    assert done.returncode == 0, done.stderr
    assert "executions: 3, warm-up: 1, average: " in done.stdout
    assert np.fromfile(folder / "out" / "output_0.bin", np.float32).tolist() == [7.0, 7.0]


def test_a_program_runs_on_the_stand_in(tmp_path: Path) -> None:
    """From PyTorch to the library, which copies: four bytes each."""
    library = binary("backends/samsung/libenn_stand_in.so")
    (tmp_path / "libenn_public_api_cpp.so").symlink_to(library.resolve())
    with recording():
        import_module(door.COMPILER_MODULE).tail = b"\n4 > 4"
        program = lowered(nn.ReLU(), torch.ones(1)).to_executorch()
    (tmp_path / "model.pte").write_bytes(program.buffer)
    np.full(1, 2.5, np.float32).tofile(tmp_path / "x.bin")
    done = run(tmp_path, "--input=x.bin", LD_LIBRARY_PATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert np.fromfile(tmp_path / "output_0.bin", np.float32).tolist() == [2.5]


def test_a_library_that_is_missing_is_named(tmp_path: Path) -> None:
    with recording():
        program = lowered(nn.Linear(2, 2).eval(), torch.ones(1, 2)).to_executorch()
    (tmp_path / "model.pte").write_bytes(program.buffer)
    done = run(tmp_path)
    assert done.returncode == 1 and "libenn_public_api_cpp.so: not found" in done.stderr


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--model=none.pte", "Cannot open none.pte"),
        ("--num_executions=0", "expected 1 or more, found 0"),
        ("--output_path=model.pte/x", "cannot make the folder"),
        ("--input=none.bin none.bin", "none.bin"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, flag: str, message: str) -> None:
    done = run(folder, flag)
    assert done.returncode == 1 and message in done.stderr
