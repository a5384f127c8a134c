# SPDX-License-Identifier: BSD-3-Clause
"""Commands of MediaTek's page as far as no SDK is needed: with a stand-in of its modules a program comes out."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

from executorch.backends.mediatek.test.stand_in import recording
from executorch.examples.mediatek.model_export_scripts import oss
from executorch.examples.models import EXAMPLES, MODEL_NAME_TO_MODEL
from executorch.test.e2e.build_tree import ROOT


def run(script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    given = {name: each for name, each in os.environ.items() if name != "ANDROID_NDK"}
    return subprocess.run(
        [str(ROOT / script), *arguments],
        env=given | environment, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_a_program_with_samples_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(oss.MODELS, "small", ("smallOne", "linear"))
    with recording() as log:
        assert oss.main(["small", "-p", "A8W8"]) == 0
    folder = tmp_path / "smallOne"
    assert sorted(each.name for each in folder.iterdir()) == [
        "golden_0_0.bin", "input_0_0.bin", "input_list.txt", "smallOne_mtk.pte",
    ]  # fmt: skip
    assert (folder / "input_list.txt").read_text() == "input_0_0.bin\n"
    assert [each[0] for each in log].count("compile") == 1
    (method,) = oss.chosen_example(None, "linear").methods.values()
    given = np.fromfile(folder / "input_0_0.bin", np.float32)
    assert given.size == method.inputs[0].numel()


def test_samples_are_inputs_and_what_pytorch_gives(tmp_path: Path) -> None:
    samples = [(torch.full((2,), float(number)), torch.ones(2)) for number in range(2)]
    oss.write_samples(tmp_path, Sum(), samples)
    assert (tmp_path / "input_list.txt").read_text() == (
        "input_0_0.bin input_0_1.bin\ninput_1_0.bin input_1_1.bin\n"
    )
    assert np.fromfile(tmp_path / "golden_1_0.bin", np.float32).tolist() == [2.0, 2.0]


class Sum(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


def test_models_are_those_of_the_examples() -> None:
    known = {*EXAMPLES, *MODEL_NAME_TO_MODEL}
    assert {example for _, example in oss.MODELS.values()} <= known


def test_without_the_wheels_they_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(oss.MODELS, "small", ("smallOne", "linear"))
    assert oss.main(["small", "-a", str(tmp_path / "out")]) == 1
    assert "expected mtk_converter >=8.13,<9, found none" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("script", "environment", "message"),
    [
        ("backends/mediatek/scripts/mtk_build.sh", {}, "Error: ANDROID_NDK environment variable is not set."),
        ("backends/mediatek/scripts/mtk_build.sh", {"ANDROID_NDK": "/none"}, "NeuronAdapter.h: copy it"),
        ("examples/mediatek/mtk_build_examples.sh", {}, "mtk_build.sh before"),
        ("examples/mediatek/shell_scripts/export_oss.sh", {}, "usage: export_oss.sh MODEL"),
    ],
)  # fmt: skip
def test_what_is_missing_is_said(script: str, environment: dict[str, str], message: str) -> None:
    done = run(script, **environment)
    assert done.returncode == 1 and message in done.stderr


def test_samsungs_script_says_what_it_takes() -> None:
    script = "backends/samsung/build.sh"
    assert "usage: build.sh" in run(script, "-h").stdout
    assert "expected x86_64, android or all, found 'arm'" in run(script, "-b", "arm").stderr
    assert "must be the folder of the Android NDK" in run(script, "-b", "android").stderr
