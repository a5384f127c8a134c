# SPDX-License-Identifier: BSD-3-Clause
"""The page's command, its files and its words; quantized with images of two classes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import torch

from executorch.backends.openvino.test.lowered import needs_compiler, needs_runtime
from executorch.devtools.commands.program_file import ProgramFile
from executorch.examples.models.resnet import ResNet18
from executorch.examples.openvino import aot_optimize_and_infer as example
from executorch.test.e2e.build_tree import ROOT, binary
from executorch.test.install.options_test import configure

pytestmark = [needs_compiler, needs_runtime]


def _resnet50() -> torch.nn.Module:
    """The same network as torchvision's, without its package."""
    from transformers import ResNetConfig, ResNetForImageClassification

    config = ResNetConfig(num_labels=1000, return_dict=False)
    return ResNetForImageClassification(config)


MODELS = {"resnet18": ResNet18, "resnet50": _resnet50}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an empty folder, without fetching weights."""
    monkeypatch.chdir(tmp_path)

    def random_weights(name: str, pretrained: bool) -> torch.nn.Module:
        if pretrained:
            raise OSError("no network in tests")
        torch.manual_seed(0)
        return MODELS[name]()

    monkeypatch.setitem(example.SUITES, "torchvision", random_weights)


@pytest.mark.req("NPU-074", "NPU-075")
def test_the_pages_commands(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--export", "--suite", "torchvision", "--model", "resnet50"]
    assert example.main([*words, "--input_shape", "(1, 3, 256, 256)", "--device", "CPU"]) == 0
    output = capsys.readouterr()
    assert "Model exported and saved as resnet50_fp32.pte on CPU." in output.out
    assert "random ones" in output.err
    assert Path("resnet50.pte").read_bytes() == Path("resnet50_fp32.pte").read_bytes()
    x = torch.randn(1, 3, 256, 256)
    (found,) = example.load("resnet50.pte")(x)
    (expected,) = example.load_model("torchvision", "resnet50")(x)
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3)
    assert ProgramFile(Path("resnet50.pte")).backends == {"OpenvinoBackend"}
    assert set(example.SUITES) == {"timm", "torchvision", "huggingface"}
    runner = [binary("executor_runner"), "--model_path=resnet50.pte", "--num_executions=10"]
    done = subprocess.run(runner, env=_with_library(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "executed successfully 10 time(s)" in done.stderr


@pytest.mark.req("NPU-077")
def test_the_option_and_the_page(tmp_path: Path) -> None:
    code, values, text = configure(tmp_path, "-DEXECUTORCH_BUILD_OPENVINO=ON")
    assert code == 0 and values["EXECUTORCH_BUILD_OPENVINO"] == "ON", text
    page = (ROOT / "examples" / "openvino" / "README.md").read_text()
    assert "aot_optimize_and_infer.py --export" in page and "--device CPU" in page


def _with_library() -> dict[str, str]:
    """C++ finds the installed package's library by its name alone."""
    import openvino

    (library, *_) = sorted(Path(openvino.__path__[0], "libs").glob("libopenvino_c.*"))
    return os.environ | {"OPENVINO_LIB_PATH": str(library)}


def test_running_saves_what_eager_pytorch_gives(capsys: pytest.CaptureFixture[str]) -> None:
    x = torch.randn(1, 3, 64, 64)
    torch.save(x, "x.pt")
    words = [
        "--suite",
        "torchvision",
        "--model",
        "resnet18",
        "--input_shape",
        "(1, 3, 64, 64)",
    ]
    more = ["--input_tensor_path", "x.pt", "--output_tensor_path", "y.pt", "--num_iter", "2"]
    assert example.main(["--export", "--infer", *words, *more]) == 0
    assert "Average inference time: " in capsys.readouterr().out
    (found,) = torch.load("y.pt", weights_only=True)
    expected = example.load_model("torchvision", "resnet18")(x)
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("flag", ["--quantize", "--validate"])
def test_images_are_asked_for(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        example.main(["--suite", "torchvision", "--model", "resnet18", flag])
    assert "need --dataset DIR" in capsys.readouterr().err
    with pytest.raises(ValueError, match="huggingface"):
        example.main(["--suite", "huggingface", "--model", "x", "--dataset", ".", flag])
