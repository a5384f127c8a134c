# SPDX-License-Identifier: BSD-3-Clause
"""The documents' commands: each example exports, runs on the computer and says where its file is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from executorch.test.e2e.build_tree import ROOT

pytestmark = pytest.mark.skipif(
    not (ROOT / "examples/cadence").exists(), reason="needs the examples of the sources"
)
MODELS = ("rnnt_joiner", "mobilenet_v2", "resnet18", "vision_transformer", "babyllama")


def run(module: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"examples.cadence.{module}"]
    return subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True)


def check(module: str) -> None:
    done = run(module)
    assert done.returncode == 0, done.stderr[-2000:]
    path = Path(done.stdout.splitlines()[-1])
    assert path.name == "CadenceDemoModel.pte" and path.stat().st_size > 1000
    beside = {each.name for each in path.parent.iterdir()}
    assert beside >= {"CadenceDemoModel.bpte", "etrecord.bin", "etdump.etdp", "debug_output.bin"}


@pytest.mark.req("NPU-048", "NPU-059", "NPU-C01")
def test_a_linear_layer() -> None:
    check("operators.quantized_linear_op")


@pytest.mark.full
@pytest.mark.req("NPU-060", "NPU-063", "NPU-065", "NPU-066")
@pytest.mark.parametrize("module", ("operators.test_quantized_conv1d_op", "models.rnnt_predictor"))
def test_operators_and_the_predictor(module: str) -> None:
    check(module)


@pytest.mark.full
@pytest.mark.req("NPU-063", "NPU-065", "NPU-066")
@pytest.mark.parametrize("name", MODELS)
def test_models(name: str) -> None:
    check(f"models.{name}")


@pytest.mark.full
@pytest.mark.req("NPU-061", "NPU-062")
@pytest.mark.parametrize("name", ("requantize", "add"))
def test_operators_of_their_own(name: str) -> None:
    done = run(f"operators.test_{name}_op")
    assert done.returncode == 0 and done.stderr.splitlines()[-1] == "OK", done.stderr[-2000:]
