# SPDX-License-Identifier: BSD-3-Clause
"""The scripts of the documents: setup.sh, run.sh, build_executor_runner.sh and run_fvp.sh. Firmware runs in QEMU, where
an FVP is not to be had."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from executorch.test.repository.sources import ROOT

EXAMPLES = ROOT / "examples" / "arm"
SCRIPTS = ROOT / "backends" / "arm" / "scripts"


def run(script: Path, *words: str, folder: Path | None = None, **more: str) -> tuple[int, str]:
    env = {**os.environ, "PYTHON_EXECUTABLE": sys.executable, **more}
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
        SCRIPTS / "emulation_root.sh",
        SCRIPTS / "run_fvp.sh",
    ],
    ids=lambda path: path.name,
)
def test_unknown_arguments_are_errors_and_help_is_help(script: Path) -> None:
    code, text = run(script, "--no-such-flag")
    assert code == 1 and "unknown argument --no-such-flag" in text
    code, text = run(script, "--help")
    assert code == 0 and "--" in text and not text.startswith("#")


@pytest.mark.req("ARM-003", "ARM-C02")
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
    script = (tmp_path / "build-dir" / "setup_path.sh").read_text()
    assert script.startswith('export PATH="$PATH":') and "EXECUTORCH_TOOLS_ARM" not in script


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


# Makes an environment whose python writes down what it is asked.
MAKES = r"""mkdir -p "$3/bin"
printf '#!/bin/sh\necho "$@" >>"%s/asked"\n' "$3" >"$3/bin/python"
chmod +x "$3/bin/python" """


@pytest.mark.req("ARM-001", "ARM-002", "ARM-004", "ARM-006", "ARM-C02")
@pytest.mark.parametrize(
    "words",
    [
        ["--i-agree-to-the-contained-eula"],
        ["--i-agree-to-the-contained-eula", "--disable-ethos-u-deps", "--enable-mlsdk-deps"],
        ["--enable-mlsdk-deps", "--disable-ethos-u-deps"],
    ],
    ids=len,
)
def test_setup_gets_the_tools(words: list[str], tmp_path: Path) -> None:
    """By pip, which is not asked here; the shell that reads setup_path.sh finds them and what the system has."""
    python = program(tmp_path / "fakes" / "python", MAKES)
    program(tmp_path / "fakes" / "glslc", "")
    more = {"PYTHON_EXECUTABLE": str(python), "PATH": f"{python.parent}:{os.environ['PATH']}"}
    folder = tmp_path / "scratch"
    code, text = run(EXAMPLES / "setup.sh", *words, f"--root-dir={folder}", **more)
    assert code == 0, text
    asked = (folder / "tools" / "asked").read_text()
    assert asked == f"-m pip install --quiet -r {ROOT}/backends/arm/tools-requirements.txt\n"
    program(folder / "tools" / "bin" / "model-converter", "")
    shell = (
        f"source {folder}/setup_path.sh; which model-converter glslc; echo $EXECUTORCH_TOOLS_ARM"
    )
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=True)
    found = done.stdout.splitlines()
    assert found[0] == f"{folder}/tools/bin/model-converter" and found[1].endswith("/glslc")
    assert found[2] == f"{folder}/tools"


@pytest.mark.req("ARM-005")
@pytest.mark.parametrize(
    ("system", "machine", "is_known"),
    [("Linux", "aarch64", True), ("Darwin", "arm64", True), ("Darwin", "x86_64", False)],
)
def test_hosts(system: str, machine: str, is_known: bool, tmp_path: Path) -> None:
    program(tmp_path / "uname", f'[ "$1" = -s ] && echo {system} || echo {machine}')
    more = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    code, text = run(
        EXAMPLES / "setup.sh", "--disable-ethos-u-deps", f"--root-dir={tmp_path}/to", **more
    )
    assert (code == 0) is is_known
    assert is_known or f"found {system} on {machine}" in text


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
@pytest.mark.req("ARM-021", "ARM-026", "ARM-C06")
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
