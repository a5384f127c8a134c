# SPDX-License-Identifier: BSD-3-Clause
"""MediaTek's runners on a program of the CPU, and on one whose library is not here."""

from __future__ import annotations

import os
import subprocess
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from executorch.backends.mediatek.test.stand_in import Function, lowered, recording
from executorch.exir import to_edge
from executorch.test.e2e.build_tree import binary


def run(
    folder: Path, *flags: str, runner: str = "mtk_oss_executor_runner", **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(binary(runner)), *flags],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With a program of x + y and two samples."""
    model = Function(lambda _, x, y: x + y)
    program = torch.export.export(model, (torch.ones(2), torch.zeros(2)))
    (tmp_path / "model.pte").write_bytes(to_edge(program).to_executorch().buffer)
    lines = []
    for sample in range(2):
        for place in range(2):
            np.full(2, 3 * sample + place, np.float32).tofile(tmp_path / f"{sample}{place}.bin")
        lines.append(f"x:={sample}0.bin y:={sample}1.bin")
    (tmp_path / "input_list.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_each_sample_is_run(folder: Path) -> None:
    done = run(folder)
    assert done.returncode == 0, done.stderr
    assert "Model executed successfully: 2 sample(s)" in done.stdout
    found = [np.fromfile(folder / "outputs" / f"output_{k}_0.raw", np.float32) for k in range(2)]
    assert [each.tolist() for each in found] == [[1.0, 1.0], [7.0, 7.0]]
    assert run(folder, "--iteration=2", runner="mtk_executor_runner").returncode == 0


def test_a_program_runs_on_the_stand_in(tmp_path: Path) -> None:
    """From PyTorch to the library, which copies: four bytes each."""
    library = binary("backends/mediatek/libneuron_stand_in.so")
    (tmp_path / "libneuron_adapter.so").symlink_to(library.resolve())
    with recording():
        import_module("mtk_neuron").tail = b"\n4 > 4"
        program = lowered(nn.ReLU(), torch.ones(1)).to_executorch()
    (tmp_path / "model.pte").write_bytes(program.buffer)
    np.full(1, 2.5, np.float32).tofile(tmp_path / "x.bin")
    (tmp_path / "input_list.txt").write_text("x.bin\n")
    done = run(tmp_path, LD_LIBRARY_PATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    found = np.fromfile(tmp_path / "outputs" / "output_0_0.raw", np.float32)
    assert found.tolist() == [2.5]


def test_a_library_that_is_missing_is_named(tmp_path: Path) -> None:
    with recording():
        program = lowered(nn.Linear(2, 2).eval(), torch.ones(1, 2)).to_executorch()
    (tmp_path / "model.pte").write_bytes(program.buffer)
    done = run(tmp_path)
    assert done.returncode == 1 and "libneuron_adapter_mgvi.so: not found" in done.stderr


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--iteration=0", "expected 1 or more, found 0"),
        ("--output_folder=model.pte/x", "cannot make the folder"),
        ("--speed=1", "speed"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, flag: str, message: str) -> None:
    done = run(folder, flag)
    assert done.returncode == 1 and message in done.stderr
