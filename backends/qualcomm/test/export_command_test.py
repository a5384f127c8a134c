# SPDX-License-Identifier: BSD-3-Clause
"""`executorch export --backend qualcomm --soc SM8650`: on the stand-ins, and without an SDK."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from executorch.backends.discovery import all_backends
from executorch.backends.qualcomm.aot import sdk
from executorch.backends.qualcomm.test import stand_in
from executorch.backends.qualcomm.test.stand_in import stand_in_sdk
from executorch.backends.test.built import build_folder
from executorch.cli import main
from executorch.extension.pybindings import libraries

__all__ = ["stand_in_sdk"]
on_stand_ins = pytest.mark.skipif(bool(stand_in.why_missing()), reason=stand_in.why_missing())
MODEL = """
import torch
from torch import nn

class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.linear = nn.Conv2d(3, 4, 3), nn.Linear(36, 5)

    def forward(self, x):
        return self.linear(torch.relu(self.conv(x)).flatten(1))

small = Small().eval(), (torch.randn(1, 3, 5, 5),)
"""
WORDS = ["export", "small.py:small", "--backend", "qualcomm", "--soc", "SM8650"]
OPERATORS = "Transpose Conv2d Relu Transpose Reshape FullyConnected".split()


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.py").write_text(MODEL)


@on_stand_ins
@pytest.mark.usefixtures("stand_in_sdk")
@pytest.mark.parametrize("more", [(), ("--quantize", "int8")], ids=["float", "int8"])
def test_a_program_is_exported_and_compared(
    more: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    libraries.load(build_folder() / "libqnn_executorch_backend.so")
    assert main.main([*WORDS, *more, "-o", "x.pte"]) == main.DONE
    assert "differs by" in capsys.readouterr().out and b"QnnBackend" in Path("x.pte").read_bytes()


@on_stand_ins
@pytest.mark.usefixtures("stand_in_sdk")
def test_what_the_manifest_names_is_there() -> None:
    manifest = all_backends()["qualcomm"]
    assert manifest.why_absent() == "" and manifest.load(manifest.quantizer)
    (partitioner,) = manifest.lowering("SM8750")["partitioners"]
    assert partitioner.qnn_options.soc_info.soc_model.name == "SM8750"
    assert "SM8650" in manifest.load(manifest.socs)


@pytest.mark.parametrize(
    ("root", "text"),
    [
        ("", "QNN_SDK_ROOT is not set"),
        ("/nowhere", f"/nowhere, where {sdk.HOST}/libQnnHtp.so is not"),
    ],
)
def test_what_is_missing_of_the_sdk_is_said_before_pytorch_is_imported(
    root: str, text: str
) -> None:
    if stand_in.why_missing():
        text = "_qnn"  # the module comes first
    code = (
        f"import os, sys\nos.environ['{sdk.VARIABLE}'] = {root!r}\n"
        "from executorch.backends import qualcomm\nfrom executorch.backends.test.built import use_build\n"
        "use_build(qualcomm)\nfrom executorch.cli import main\n"
        f"status = main.main({WORDS!r})\nassert status == 2 and 'torch' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert text in done.stderr and "--graph FILE" in done.stderr


def test_graphs_are_written_without_an_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(sdk.VARIABLE, raising=False)
    assert main.main([*WORDS, "--graph", "g.txt"]) == main.DONE
    head, *lines = Path("g.txt").read_text().splitlines()
    assert head == "graph forward 0" and [each.split()[0] for each in lines] == OPERATORS
    assert main.main([*WORDS, "--quantize", "int8", "--graph", "g.txt"]) == main.DONE
    _, *lines = Path("g.txt").read_text().splitlines()
    assert [each.split()[0] for each in lines] == ["Quantize", *OPERATORS, "Dequantize"]
    assert not list(Path().glob("*.pte"))


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--backend", "qualcomm", "--soc", "SM1", "--graph", "g.txt"], "expected one of SA8295, "),
        (["--backend", "xnnpack", "--soc", "SM8650"], "--soc: expected --backend qualcomm"),
        (["--backend", "xnnpack", "--graph", "g.txt"], "--graph: expected --backend qualcomm"),
    ],
)
def test_other_chips_and_backends_are_refused(
    words: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["export", "small.py:small", *words]) == main.FAILED
    assert text in capsys.readouterr().err
