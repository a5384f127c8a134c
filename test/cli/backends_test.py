# SPDX-License-Identifier: BSD-3-Clause
"""`executorch export --backend NAME`: a backend with a quantizer needs no recipe, and what cannot run here is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from executorch.cli import main


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_quantizer_is_enough_for_int8(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["export", "linear", "--backend", "cortex_m", "--quantize", "int8", "-o", "x.pte"]
    assert main.main(words) == main.DONE
    assert b"cortex_m::quantized_linear" in Path("x.pte").read_bytes()
    said = capsys.readouterr()
    assert "differs by" in said.out and "no operator" not in said.err


def test_operators_that_are_not_used_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["export", "add", "--backend", "cortex_m", "-o", "x.pte"]) == main.DONE
    assert capsys.readouterr().err == (
        "cortex_m has no operator for what the program calls: aten::add.out; try --quantize int8\n"
    )


def test_what_cannot_run_here_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["export", "add", "--backend", "mps", "-o", "x.pte"]) == main.DONE
    assert b"MPSBackend" in Path("x.pte").read_bytes()
    said = capsys.readouterr().out.splitlines()[-1]
    assert said == "not compared: the runtime of this package does not have backend MPSBackend"
