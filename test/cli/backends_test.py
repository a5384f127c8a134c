# SPDX-License-Identifier: BSD-3-Clause
"""`executorch export --backend NAME`: a backend with a quantizer needs no recipe, and what cannot run here is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from executorch.cli import main


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


SMALL = """
import torch
from torch import nn

class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.linear = nn.Conv2d(3, 4, 3), nn.Linear(36, 5)

    def forward(self, x):
        return self.linear(torch.relu(self.conv(x)).flatten(1)).softmax(0)

small = Small().eval(), (torch.randn(1, 3, 5, 5),)
"""


def test_a_quantizer_is_enough_for_int8(capsys: pytest.CaptureFixture[str]) -> None:
    """Of images with channels first, too; what stays in floats is said."""
    Path("small.py").write_text(SMALL)
    words = [
        "export",
        "small.py:small",
        "--backend",
        "cortex_m",
        "--quantize",
        "int8",
        "-o",
        "x.pte",
    ]
    with pytest.warns(UserWarning, match=r"floats here:\n    aten._softmax.default: .*small.py"):
        assert main.main(words) == main.DONE
    program = Path("x.pte").read_bytes()
    assert b"cortex_m::quantized_linear" in program and b"cortex_m::quantized_conv2d" in program
    assert b"aten::convolution" not in program
    output = capsys.readouterr()
    assert "differs by" in output.out and "no operator" not in output.err


def test_operators_that_are_not_used_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["export", "add", "--backend", "cortex_m", "-o", "x.pte"]) == main.DONE
    assert capsys.readouterr().err == (
        "cortex_m has no operator for what the program calls: aten::add.out; try --quantize int8 or auto\n"
    )


def test_what_cannot_run_here_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["export", "add", "--backend", "mps", "-o", "x.pte"]) == main.DONE
    assert b"MPSBackend" in Path("x.pte").read_bytes()
    output = capsys.readouterr().out.splitlines()[-1]
    assert output == "not compared: the runtime of this package does not have backend MPSBackend"
