# SPDX-License-Identifier: BSD-3-Clause
"""qnn_executor_runner on the stand-ins: samples of a list, outputs in a folder, events in an ETDump."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

from executorch.backends.qualcomm.test import stand_in
from executorch.backends.qualcomm.test.graph_cases import Function
from executorch.backends.qualcomm.test.stand_in import lowered, specs, stand_in_sdk
from executorch.devtools import Inspector
from executorch.test.e2e.build_tree import binary

__all__ = ["stand_in_sdk"]
pytestmark = [
    pytest.mark.skipif(bool(stand_in.why_missing()), reason=stand_in.why_missing()),
    pytest.mark.usefixtures("stand_in_sdk"),
]


def runner(folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [str(binary("qnn_executor_runner")), *flags]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With a program of x * 2 + y and three samples."""
    model = Function(lambda x, y: torch.relu(x * 2 + y))
    manager = lowered(model, (torch.randn(2, 3), torch.randn(3)), specs(profile_level=2))
    (tmp_path / "model.pte").write_bytes(manager.to_executorch().buffer)
    lines = []
    for sample in range(3):
        names = []
        for place, shape in enumerate(((2, 3), (3,))):
            name = f"in_input_{sample}_{place}.raw"
            np.full(shape, sample + place, np.float32).tofile(tmp_path / name)
            names.append(name)
        lines.append(" ".join(names))
    (tmp_path / "input_list.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.mark.req("NPU-007")
def test_each_sample_is_run(folder: Path) -> None:
    done = runner(folder, "--iteration=2", "--warm_up=1", "--htp_performance_mode=2")
    assert done.returncode == 0, done.stderr
    assert "Model executed successfully: 3 sample(s)" in done.stdout
    for sample in range(3):
        found = np.fromfile(folder / "outputs" / f"output_{sample}_0.raw", np.float32)
        assert found.tolist() == [3 * sample + 1.0] * 6
    assert float((folder / "inference_speed.txt").read_text()) > 0


def test_events_of_the_npu_are_in_the_etdump(folder: Path) -> None:
    assert runner(folder).returncode == 0
    blocks = Inspector(etdump_path=str(folder / "etdump.etdp")).event_blocks
    names = [event.name for block in blocks for event in block.events]
    assert {"QNN_EXECUTE", "execute", "aten_mul_tensor", "aten_relu_default"} <= set(names)
    off = folder / "off.etdp"
    assert runner(folder, "--profile_level=0", f"--etdump_path={off}").returncode == 0
    blocks = Inspector(etdump_path=str(off)).event_blocks
    names = [event.name for block in blocks for event in block.events]
    assert "QNN_EXECUTE" in names and "aten_mul_tensor" not in names


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--model_path=none.pte"], "cannot read none.pte"),
        (["--method_index=1"], "--method_index: expected less than 1"),
        (["--iteration=0"], "how often a sample is run: expected 1 or more"),
        (["--htp_performance_mode=9"], "expected 0..8, found 9"),
        (["--speed=1"], "speed"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, flags: list[str], message: str) -> None:
    done = runner(folder, *flags)
    assert done.returncode == 1
    assert message in done.stderr


def test_a_file_of_another_size_is_refused(folder: Path) -> None:
    (folder / "in_input_1_0.raw").write_bytes(b"1234")
    done = runner(folder)
    assert done.returncode == 1 and "24 bytes" in done.stderr
