# SPDX-License-Identifier: BSD-3-Clause
"""The page's command, its files and its words; quantized with images of two classes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from executorch.backends.openvino.test.lowered import needs_compiler, needs_runtime
from executorch.examples.openvino import aot_optimize_and_infer as example

torchvision = pytest.importorskip("torchvision")
pytestmark = [needs_compiler, needs_runtime]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an empty folder, without fetching weights."""
    monkeypatch.chdir(tmp_path)

    def random_weights(name: str, pretrained: bool) -> torch.nn.Module:
        if pretrained:
            raise OSError("no network in tests")
        torch.manual_seed(0)
        return torchvision.models.get_model(name, weights=None)

    monkeypatch.setitem(example.SUITES, "torchvision", random_weights)


@pytest.mark.req("NPU-074")
def test_the_pages_command(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--export", "--suite", "torchvision", "--model", "squeezenet1_1"]
    assert example.main([*words, "--input_shape", "(1, 3, 64, 64)", "--device", "CPU"]) == 0
    said = capsys.readouterr()
    assert "Model exported and saved as squeezenet1_1_fp32.pte on CPU." in said.out
    assert "random ones" in said.err
    assert Path("squeezenet1_1.pte").read_bytes() == Path("squeezenet1_1_fp32.pte").read_bytes()


def test_running_saves_what_eager_pytorch_gives(capsys: pytest.CaptureFixture[str]) -> None:
    x = torch.randn(1, 3, 64, 64)
    torch.save(x, "x.pt")
    words = [
        "--suite",
        "torchvision",
        "--model",
        "squeezenet1_1",
        "--input_shape",
        "(1, 3, 64, 64)",
    ]
    more = ["--input_tensor_path", "x.pt", "--output_tensor_path", "y.pt", "--num_iter", "2"]
    assert example.main(["--export", "--infer", *words, *more]) == 0
    assert "Average inference time: " in capsys.readouterr().out
    (found,) = torch.load("y.pt", weights_only=True)
    expected = example.load_model("torchvision", "squeezenet1_1")(x)
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("flag", ["--quantize", "--validate"])
def test_images_are_asked_for(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        example.main(["--suite", "torchvision", "--model", "resnet18", flag])
    assert "need --dataset DIR" in capsys.readouterr().err
    with pytest.raises(ValueError, match="huggingface"):
        example.main(["--suite", "huggingface", "--model", "x", "--dataset", ".", flag])
