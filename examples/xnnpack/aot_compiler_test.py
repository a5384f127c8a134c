# SPDX-License-Identifier: BSD-3-Clause
"""The documents' command: what it writes, and that executor_runner and the test after export run it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from executorch.examples.models.example import Method
from executorch.examples.xnnpack import aot_compiler
from executorch.test.e2e.build_tree import ROOT, binary, run


@pytest.mark.slow
@pytest.mark.req("PY-008", "BLD-019")
@pytest.mark.parametrize("package", ["examples", "executorch.examples"])
def test_the_command_of_the_documents(package: str, tmp_path: Path) -> None:
    script = [sys.executable, "-m", f"{package}.xnnpack.aot_compiler"]
    command = [*script, "--model_name=mv2", "--delegate", "--output_dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.iterdir()
    assert path.name == "mv2_xnnpack_fp32.pte"
    ran = run(binary("executor_runner"), f"--model_path={path}")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "sizes=[1, 1000]" in ran.stdout


@pytest.mark.parametrize("words", [[], ["--no-delegate"]])
def test_the_program_is_compared_with_the_model(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "record.bin"
    shared = ["-m", "two_methods", "-t", "-o", str(tmp_path), "-r", str(record)]
    assert aot_compiler.main([*shared, *words]) == 0
    assert "of the largest output" in capsys.readouterr().out
    assert record.stat().st_size > 0
    written = (tmp_path / "two_methods_xnnpack_fp32.pte").read_bytes()
    assert (b"XnnpackBackend" in written) == (words == [])


def test_a_wrong_program_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def half_as_much(program: object, methods: dict[str, Method]) -> float:
        return 0.5

    monkeypatch.setattr(aot_compiler, "largest_error", half_as_much)
    assert aot_compiler.main(["-m", "linear", "-t", "-o", str(tmp_path)]) == 1


def test_an_unknown_model_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        aot_compiler.main(["-m", "mv3"])
    assert "no model 'mv3'; did you mean mv2?" in capsys.readouterr().err
