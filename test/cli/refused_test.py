# SPDX-License-Identifier: BSD-3-Clause
"""`executorch export` and `executorch doctor` on a model that does not export: the line, and code that mends it."""

from __future__ import annotations

from pathlib import Path

import pytest

from executorch.cli import main
from executorch.test.documents import run_page
from executorch.test.repository.sources import ROOT

MODEL = """import torch

class Branches(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.drop = torch.nn.Dropout()

    def forward(self, x):
        y = self.linear(x)
        if y.mean() > 0:
            y = y + 1
        return self.drop(y)

branches = (Branches().eval(), (torch.randn(2, 4),))
"""
MENDED = "        y = torch.where(y.mean() > 0, y + 1, y)"


def test_code_that_is_told_mends_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, target = tmp_path / "branching_model.py", tmp_path / "branches.pte"
    path.write_text(MODEL)
    command = ["export", f"{path}:branches", "-o", str(target)]
    assert main.main(command) == main.FAILED
    output = capsys.readouterr().err.splitlines()
    assert output[0] == (
        "executorch export: method forward does not export: a branch depends on the value of a tensor"
    )
    assert output[1] == f"  {path}:11: if y.mean() > 0:"
    place = output.index("  instead of lines 11 to 12:")
    assert output[place + 1].strip() == MENDED.strip()
    lines = MODEL.splitlines()
    path.write_text("\n".join([*lines[:10], MENDED, *lines[12:]]))
    assert main.main(command) == main.DONE
    assert target.is_file()


def test_doctor_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "another_model.py"
    path.write_text(MODEL.replace(".eval()", ""))
    assert main.main(["doctor", f"{path}:branches", "--no-run"]) == main.FOUND
    output = capsys.readouterr().out
    assert output.index("the model is in train mode") < output.index(
        "a branch depends on the value"
    )
    assert MENDED.strip() in output and "model.eval()" in output


def test_the_guide_shows_what_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs" / "guide" / "debugging.md").read_text()
    ((code,), (text,)) = (run_page.blocks(page, language) for language in ("python", "text"))
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(code)
    assert main.main(["export", "net.py:net"]) == main.FAILED
    assert capsys.readouterr().err == text


def test_what_has_no_kernel_is_a_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "eigenvalues.py"
    path.write_text(
        "import torch\n\nclass Eig(torch.nn.Module):\n    def forward(self, x):\n"
        "        return torch.linalg.eigvals(x @ x.T).real\n\neig = (Eig().eval(), (torch.ones(3, 3),))\n"
    )
    assert main.main(["export", f"{path}:eig", "-o", str(tmp_path / "eig.pte")]) == main.FAILED
    output = capsys.readouterr().err.splitlines()
    assert output[0] == "executorch export: method forward cannot become a program:"
    (line,) = (each for each in output if "aten::linalg_eig.out" in each)
    assert f'"{path}", line 5' in line and "torch.linalg.eigvals(x @ x.T)" in line
