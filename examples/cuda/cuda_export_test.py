# SPDX-License-Identifier: BSD-3-Clause
"""The script's files, by the processor's backend of the same kind, and what it says without a GPU."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from executorch.backends.aoti.aoti_cpu import AotiCpuPartitioner
from executorch.examples.cuda.scripts import export


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is here")
def test_what_is_missing_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export.main(["-m", "linear", "-o", str(tmp_path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert "CudaPartitioner compiles with AOTInductor on a computer with" in line
    assert not list(tmp_path.iterdir())


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "CudaPartitioner", AotiCpuPartitioner)
    words = ["--model_name=add", f"--output_dir={tmp_path / 'made'}"]
    assert export.main([*words, "--generate_etrecord", "--save_processed_bytes"]) == 0
    names = {"add_cuda.pte", "add_cuda.bin", "add_cuda_etrecord.bin"}
    assert {each.name for each in (tmp_path / "made").iterdir()} == names
    keys = (tmp_path / "made" / "add_cuda.bin").read_text().split("\n")
    assert [key.split("_", 1)[1] for key in keys] == ["so_blob", "weights_blob"]
    assert keys[0].encode() in (tmp_path / "made" / "add_cuda.pte").read_bytes()


def test_unknown_models_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        export.main(["-m", "linaer"])
    assert "did you mean linear" in capsys.readouterr().err
