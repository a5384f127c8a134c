# SPDX-License-Identifier: BSD-3-Clause
"""The documents' command: what it writes, and that executor_runner and the test after export run it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torchao.quantization.utils import compute_error

from executorch.devtools.commands.program_file import ProgramFile
from executorch.examples.models import make_example
from executorch.examples.xnnpack import aot_compiler
from executorch.runtime import Runtime
from executorch.test.e2e.build_tree import ROOT, binary, run


@pytest.mark.req("PY-008", "BLD-019", "XQ-014", "XQ-016", "XQ-C01")
@pytest.mark.parametrize(
    "words, name", [([], "mv2_xnnpack_fp32.pte"), (["--quantize"], "mv2_xnnpack_q8.pte")]
)
def test_the_commands_of_the_documents(words: list[str], name: str, tmp_path: Path) -> None:
    """From the root, with the names of the root, and in this process."""
    words = ["--model_name=mv2", *words, "--delegate", "--output_dir", str(tmp_path)]
    if "--quantize" in words:
        assert aot_compiler.main(words) == 0
    else:
        command = [sys.executable, "-m", "examples.xnnpack.aot_compiler", *words]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    (path,) = tmp_path.iterdir()
    assert path.name == name
    ran = run(binary("executor_runner"), f"--model_path={path}")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "sizes=[1, 1000]" in ran.stdout
    file = ProgramFile(path)
    assert {call.name for call in file.calls} == {"XnnpackBackend"}
    method = make_example("mv2").forward
    weights = 4 * sum(each.numel() for each in method.module.parameters())
    (found,) = Runtime.get().load_program(path).load_method("forward").execute(method.inputs)
    with torch.no_grad():
        expected = method.module(*method.inputs)
    if (
        "--quantize" in words
    ):  # a byte for four; scales of values for these weights, drawn and not trained
        assert path.stat().st_size < 0.35 * weights and compute_error(expected, found) > 10
    else:
        assert path.stat().st_size > 0.9 * weights
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-5)


def test_a_quantized_program_is_as_close_as_its_model(tmp_path: Path) -> None:
    assert aot_compiler.main(["-m", "linear", "-q", "-t", "-o", str(tmp_path)]) == 0


@pytest.mark.parametrize("words", [[], ["--no-delegate"]])
def test_the_program_is_compared_with_the_model(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "record.bin"
    shared = ["-m", "two_methods", "-t", "-o", str(tmp_path), "-r", str(record)]
    assert aot_compiler.main([*shared, *words]) == 0
    assert "beside the float model" in capsys.readouterr().out
    assert record.stat().st_size > 0
    written = (tmp_path / "two_methods_xnnpack_fp32.pte").read_bytes()
    assert (b"XnnpackBackend" in written) == (words == [])


def test_a_wrong_program_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    right = aot_compiler.outputs_of_program

    def wrong(*arguments: Any) -> list[torch.Tensor]:
        return [1.01 * value for value in right(*arguments)]

    monkeypatch.setattr(aot_compiler, "outputs_of_program", wrong)
    assert aot_compiler.main(["-m", "linear", "-t", "-o", str(tmp_path)]) == 1


def test_an_unknown_model_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        aot_compiler.main(["-m", "mv4"])
    assert "no model 'mv4'; did you mean mv2?" in capsys.readouterr().err
