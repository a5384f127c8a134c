# SPDX-License-Identifier: BSD-3-Clause
"""Networks on emulated systems, by --device qemu:TARGET, beside this machine's numbers; runners are built first."""

from __future__ import annotations

import json
import shutil
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.cli import main
from executorch.exir import to_edge, to_edge_transform_and_lower
from executorch.test.install.commands import beside, command
from executorch.test.repository.sources import ROOT

pytestmark = pytest.mark.full
# Float sums have another order on each processor: see test/install/cross_build_test.py.
LIMIT = 2e-5
TARGETS = {"aarch64": "linux-arm64", "armv7": "linux-armv7", "riscv64": "linux-riscv64"}
ON_TARGETS = pytest.mark.parametrize("target", TARGETS)


@cache
def runner(preset: str) -> Path:
    """As the sentence of a missing one says."""
    if not shutil.which(f"{_compiler(preset)}-g++"):
        pytest.skip(f"{_compiler(preset)}-g++ is not installed")
    folder = beside(f"{preset.removeprefix('linux-')}-devices")
    options = ["-DEXECUTORCH_ENABLE_EVENT_TRACER=ON", "-DEXECUTORCH_BUILD_TESTS=OFF"]
    command("cmake", "--preset", preset, "-B", folder, *options)
    command("cmake", "--build", folder, "--target", "executor_runner")
    return folder / "executor_runner"


def _compiler(preset: str) -> str:
    known = {"linux-arm64": "aarch64-linux-gnu", "linux-armv7": "arm-linux-gnueabihf"}
    return known.get(preset, "riscv64-linux-gnu")


class Network(nn.Module):
    """Delegated, but for its last operators."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.linear = nn.Linear(8, 10)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = self.linear(torch.relu(self.conv(x)).mean((2, 3)))
        return y.softmax(-1), torch.cumsum(y, 1)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("network")
    torch.manual_seed(0)
    exported = torch.export.export(Network().eval(), (torch.randn(1, 3, 32, 32),))
    edge = to_edge_transform_and_lower(
        exported, partitioner=[XnnpackPartitioner()], generate_etrecord=True
    )
    program = edge.to_executorch()
    program.save(str(folder / "network.pte"))
    program.get_etrecord().save(folder / "network.etrecord")
    return folder


def outputs(path: Path, *device: str) -> list[np.ndarray]:
    found = path.with_suffix(".npz")
    assert main.main(["run", str(path), "--output", str(found), *device]) == main.DONE
    with np.load(found) as file:
        return [file[key] for key in file.files]


def device(target: str) -> list[str]:
    return ["--device", f"qemu:{target}", "--runner", str(runner(TARGETS[target]))]


@ON_TARGETS
def test_a_run_gives_this_machine_s_numbers(target: str, files: Path) -> None:
    path = files / "network.pte"
    for ours, theirs in zip(outputs(path), outputs(path, *device(target)), strict=True):
        assert ours.shape == theirs.shape == (1, 10)
        assert np.linalg.norm(ours - theirs) <= LIMIT * np.linalg.norm(ours)


@ON_TARGETS
def test_bench_and_bisect_read_what_it_recorded(
    target: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, record = str(files / "network.pte"), str(files / "network.etrecord")
    words = ["bench", path, "--etrecord", record, "--rounds", "2", "--cold", "1", "--json"]
    assert main.main([*words, *device(target)]) == main.DONE
    report = json.loads(capsys.readouterr().out)
    assert {"XnnpackBackend", "kernels"} == {row["by"] for row in report["kinds"]}
    assert report["files"][0]["min ms"] > 0
    assert main.main(["bisect", record, path, "--json", *device(target)]) == main.DONE
    compared = json.loads(capsys.readouterr().out)["operators"]
    assert len(compared) > 3 and max(row["own error"] for row in compared) < 1e-4
    assert main.main(["check", path, *device(target)]) == main.DONE


def test_a_runner_for_another_target_is_refused(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--device", "qemu:riscv64", "--runner", str(runner("linux-arm64"))]
    assert main.main(["run", str(files / "network.pte"), *words]) == main.FAILED
    message = capsys.readouterr().err
    assert "expected a program for riscv64, found a program for aarch64" in message


class Small(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return (x * 2 + y).softmax(-1), x - y


@cache
def firmware() -> Path:
    """As the sentence of a missing one says."""
    if not all(map(shutil.which, ("arm-none-eabi-g++", "qemu-system-arm"))):
        pytest.skip("gcc-arm-none-eabi or qemu-system-arm is not installed")
    folder = ROOT / "build" / "devices-cortex-m55"
    names = ("mul.Scalar_out", "add.out", "sub.out", "_softmax.out")
    command(
        *(ROOT / "backends/arm/scripts/build_executor_runner.sh", "--pte=semihosting"),
        *("--target=cortex-m55", f"--output={folder}"),
        f"--select_ops_list={','.join(f'aten::{name}' for name in names)}",
        PYTHON_EXECUTABLE=sys.executable,
    )
    return folder / "arm_executor_runner"


def test_a_microcontroller_gives_this_machine_s_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, inputs = tmp_path / "small.pte", (torch.ones(2, 4), torch.ones(2, 4))
    to_edge(torch.export.export(Small(), inputs)).to_executorch().save(str(path))
    words = ["--device", "qemu:cortex-m55", "--runner", str(firmware())]
    for ours, theirs in zip(outputs(path), outputs(path, *words), strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=1e-6)
    assert main.main(["bench", str(path), *words]) == main.FAILED
    assert "measures no times" in capsys.readouterr().err
