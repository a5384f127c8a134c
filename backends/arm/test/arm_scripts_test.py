# SPDX-License-Identifier: BSD-3-Clause
"""The scripts of the documents: setup.sh, run.sh, build_executor_runner.sh and run_fvp.sh (ARM-001 to ARM-005, ARM-021,
ARM-022, ARM-026). Firmware runs in QEMU, where an FVP is not to be had."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from executorch.test.repository.sources import ROOT

EXAMPLES = ROOT / "examples" / "arm"
SCRIPTS = ROOT / "backends" / "arm" / "scripts"


def run(script: Path, *words: str, folder: Path | None = None) -> tuple[int, str]:
    env = {**os.environ, "PYTHON_EXECUTABLE": sys.executable}
    done = subprocess.run(
        ["bash", str(script), *words], capture_output=True, text=True, env=env, cwd=folder
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    "script",
    [
        EXAMPLES / "setup.sh",
        EXAMPLES / "run.sh",
        SCRIPTS / "build_executor_runner.sh",
        SCRIPTS / "run_fvp.sh",
    ],
    ids=lambda path: path.name,
)
def test_unknown_arguments_are_errors_and_help_is_help(script: Path) -> None:
    code, text = run(script, "--no-such-flag")
    assert code == 1 and "unknown argument --no-such-flag" in text
    code, text = run(script, "--help")
    assert code == 0 and "--" in text and not text.startswith("#")


def test_setup_without_tools(tmp_path: Path) -> None:
    """The licence is asked for where something has one; the folder may be named without a flag."""
    setup = EXAMPLES / "setup.sh"
    code, text = run(setup, "--enable-fvps", "--disable-ethos-u-deps", str(tmp_path))
    assert code == 1 and "--i-agree-to-the-contained-eula" in text
    words = (
        "--i-agree-to-the-contained-eula",
        "--disable-ethos-u-deps",
        "--enable-fvps",
        "build-dir",
    )
    code, text = run(setup, *words, folder=tmp_path)
    assert code == 0 and "to get by hand: Corstone-300" in text
    said = (tmp_path / "build-dir" / "setup_path.sh").read_text()
    assert said.startswith('export PATH="$PATH":') and "EXECUTORCH_TOOLS_ARM" not in said


def test_what_cannot_be_is_said(tmp_path: Path) -> None:
    code, text = run(SCRIPTS / "build_executor_runner.sh", f"--pte={tmp_path}/absent.pte")
    assert code == 1 and "no file" in text
    code, text = run(
        SCRIPTS / "build_executor_runner.sh", "--pte=semihosting", "--target=ethos-n78"
    )
    assert code == 1 and "expected ethos-u55-128" in text
    (tmp_path / "some.elf").touch()
    code, text = run(SCRIPTS / "run_fvp.sh", f"--elf={tmp_path}/some.elf", "--target=ethos-u85-256")
    assert code == 1 and "FVP_Corstone_SSE-320 is not on PATH" in text


@pytest.mark.full
@pytest.mark.parametrize(("model", "value"), [("softmax", "0.500000"), ("add", "2.000000")])
def test_run(model: str, value: str, tmp_path: Path) -> None:
    """Compiled, linked and run without a delegate."""
    root = ROOT / "build" / "arm-run"  # stays, so that the runtime is compiled once
    words = ("--aot_arm_compiler_flags=", "--emulator=qemu", f"--et_build_root={root}")
    code, text = run(
        EXAMPLES / "run.sh", f"--model_name={model}", f"--scratch-dir={tmp_path}", *words
    )
    assert code == 0, text[-3000:]
    assert f"Output[0][0]: (float) {value}" in text
