# SPDX-License-Identifier: BSD-3-Clause
"""Other people's programs, unchanged, on our wheel: they export, run and read files, with eager's numbers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
from executorch.test.clients.environment import PROGRAMS, Environment, needs_wheel, run

# torchvision on the package index goes with this build of torch alone
VISION = ("torch==2.14.1 torchvision==0.29.1",)
AUDIO = Environment("neural-tilde", ("torch==2.13.0 numpy", "neural-tilde==0.1.0"))
YOLO = Environment("ultralytics", (*VISION, "ultralytics==8.4.190"))
RF_DETR = Environment("rfdetr", (*VISION, "rfdetr==1.11.2"))
TRANSFORMERS = Environment("transformers", ("torch==2.13.0 numpy", "transformers==5.23.0"))
NUMPY_RUNTIME = Environment(
    "numpy-runtime", ("executorch-numpy-runtime==1.4.0",), python="python3.12", with_wheel=False
)
MODEL_EXPLORER = Environment(
    "model-explorer", ("pte-adapter-model-explorer==0.2.0",), with_wheel=False
)
RECORD_EXPLORER = Environment(
    "record-explorer",
    (
        "torch==2.13.0 numpy",
        "ai-edge-model-explorer>=0.1.28,<0.2.0",
        "--no-deps etrecord-adapter-model-explorer==0.2.0 etdump-data-provider-model-explorer==0.1.0",
    ),
)
# its recipes for Core ML are read with all others, and import coremltools
OPTIMUM = Environment(
    "optimum",
    (
        "torch==2.13.0 numpy",
        "transformers==5.0.0rc1 optimum~=2.0.0 accelerate>=0.26.0 coremltools==9.0 pillow",
        "--no-deps optimum-executorch==1.1.0",
    ),
)
OPERATORS = ("--use_custom_sdpa", "--use_custom_kv_cache")
NETWORKS = """yolo11n yolov5n yolov8n yolov9t yolov10n yolo12n yolo26n
 yolo11n-seg yolo11n-pose yolo11n-cls yolo11n-obb""".split()


def optimum(case: str, recipe: str, *options: str, rows: tuple[str, ...]) -> object:
    """A parameter: a checkpoint of optimum_export.py, a recipe, options, and the requirements that they meet."""
    name = "-".join((case, recipe, *(word.strip("-") for word in options)))
    return pytest.param(case, recipe, options, id=name, marks=pytest.mark.req(*rows))


OPTIMUM_ROWS = [
    optimum("llama", "portable", rows=("LLM-031", "LLM-032", "LLM-033")),
    optimum("llama", "xnnpack", rows=("LLM-024", "LLM-031")),
    optimum("llama", "xnnpack", *OPERATORS, rows=("LLM-025",)),
    optimum("llama", "xnnpack", *OPERATORS, "--qlinear", "8da4w", "--qembedding", "8w", rows=("LLM-025",)),
    optimum("llama", "xnnpack", *OPERATORS, "--qlinear", "8da4w", "--qembedding", "4w", rows=("LLM-026",)),
    optimum("qwen3", "portable", *OPERATORS, rows=("LLM-033",)),
    optimum("gpt2", "xnnpack", rows=("LLM-033",)),
    optimum("mistral", "xnnpack", *OPERATORS, rows=("LLM-033",)),
    optimum("llava", "xnnpack", rows=("LLM-033",)),
    optimum("gemma3", "xnnpack", rows=("LLM-033", "LLM-052")),
    optimum("whisper", "portable", rows=("LLM-033",)),
    optimum("whisper", "xnnpack", rows=("LLM-033",)),
]  # fmt: skip


@needs_wheel
def test_streaming_audio(tmp_path: Path) -> None:
    differences = run(AUDIO.interpreter(), "neural_tilde_live.py", tmp_path, "xnnpack", "portable")
    assert set(differences) == {"xnnpack", "portable"}
    assert max(differences.values()) < 1e-5, differences


@needs_wheel
@pytest.mark.full
def test_ultralytics(tmp_path: Path) -> None:
    names = [f"{name}.yaml" for name in NETWORKS]
    rows = run(YOLO.interpreter(), "yolo.py", tmp_path, *names)
    assert list(rows) == names
    for name, row in rows.items():
        assert row["predicted"] == "Results", (name, row)
        assert row["shape"] == row["eager_shape"] and row["smallest_norm"] > 0, (name, row)
        assert row["relative_difference"] < 1e-4, (name, row)


@needs_wheel
@pytest.mark.full
def test_rf_detr(tmp_path: Path) -> None:
    row = run(RF_DETR.interpreter(), "rf_detr.py", tmp_path)
    assert row["shapes"] == row["eager_shapes"], row
    assert max(row["relative_differences"]) < 1e-3, row


@needs_wheel
@pytest.mark.full
def test_transformers(tmp_path: Path) -> None:
    """Its exporter replaces functions inside of ours while it runs."""
    differences = run(TRANSFORMERS.interpreter(), "transformers_exporter.py", tmp_path)
    assert set(differences) == {"bert", "vit", "llama"}
    assert max(differences.values()) < 1e-5, differences


@needs_wheel
@pytest.mark.full
@pytest.mark.parametrize("case, recipe, options", OPTIMUM_ROWS)
def test_optimum_writes_what_transformers_writes(
    case: str, recipe: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    """Small checkpoints by `optimum-cli export executorch`, and text from ExecuTorchModelFor...; weights of 8 and 4
    bits keep the logits to some decibels, float ones to the order of sums. Its text2text-generation takes T5 alone,
    whose decoder torch.export of 2.13 refuses inside of optimum, with upstream's wheel, too: not a row."""
    row = run(OPTIMUM.interpreter(), "optimum_export.py", tmp_path, case, recipe, *options)
    assert row["files"] == ["model.pte"], row
    if "--qlinear" in options:
        assert row["decibels"] > 12, row
    else:
        assert row["found"] == row["expected"] and row["decibels"] > 90, row


@needs_wheel
@pytest.mark.full
@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is here")
def test_optimums_recipe_for_cuda_says_what_is_missing(tmp_path: Path) -> None:
    """LLM-029: its classes are found and called; the rest needs the GPU."""
    command = [OPTIMUM.interpreter(), PROGRAMS / "optimum_export.py", "llama", "cuda"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "missing here: a torch with CUDA" in done.stderr, done.stderr


@needs_wheel
@pytest.mark.full
@pytest.mark.req("LLM-027")
def test_optimum_lists_its_options() -> None:
    command = OPTIMUM.interpreter().with_name("optimum-cli")
    done = subprocess.run(
        [command, "export", "executorch", "--help"], capture_output=True, text=True, check=True
    )
    documented = (
        "model task recipe use_custom_sdpa use_custom_kv_cache qlinear qembedding max_seq_len"
    )
    assert all(f"--{name}" in done.stdout for name in documented.split())


class Network(nn.Module):
    """Parts on XNNPACK and parts outside of it."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.BatchNorm2d(8), nn.ReLU6())
        self.head = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = self.features(x).mean((2, 3))
        return torch.cumsum(self.head(y), 1), y.argmax(1)


@pytest.fixture(scope="module", params=["portable", "xnnpack"])
def written(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, torch.Tensor, tuple[torch.Tensor, ...]]:
    torch.manual_seed(1)
    model, x = Network().eval(), torch.randn(2, 3, 17, 19)
    backends = [XnnpackPartitioner()] if request.param == "xnnpack" else None
    lowered = to_edge_transform_and_lower(torch.export.export(model, (x,)), partitioner=backends)
    path = tmp_path_factory.mktemp("written") / f"{request.param}.pte"
    lowered.to_executorch().save(str(path))
    return path, x, model(x)


@pytest.mark.full
def test_a_runtime_without_pytorch_reads_our_files(written: tuple, tmp_path: Path) -> None:
    path, x, expected = written
    np.savez(tmp_path / "inputs.npz", x.numpy())
    python = NUMPY_RUNTIME.interpreter()
    row = run(
        python, "numpy_runtime.py", tmp_path, path, tmp_path / "inputs.npz", tmp_path / "out.npz"
    )
    assert row == {"outputs": len(expected)}
    found = np.load(tmp_path / "out.npz")
    for name, value in zip(found.files, expected):
        np.testing.assert_allclose(found[name], value.detach().numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.full
def test_model_explorer_draws_our_files(written: tuple, tmp_path: Path) -> None:
    path, _, _ = written
    graphs = run(MODEL_EXPLORER.interpreter(), "draw_graphs.py", tmp_path, path)
    assert "aten::cumsum" in graphs["forward"], graphs
    if path.stem == "xnnpack":
        inside = set().union(*(labels for name, labels in graphs.items() if name != "forward"))
        assert {"XNNConv2d", "XNNFullyConnected"} <= inside, graphs
    else:
        assert "aten::convolution" in graphs["forward"], graphs


@needs_wheel
@pytest.mark.full
def test_model_explorer_draws_our_records_and_times(tmp_path: Path) -> None:
    model, x = Network().eval(), torch.randn(2, 3, 17, 19)
    program = to_edge_transform_and_lower(
        torch.export.export(model, (x,)), generate_etrecord=True
    ).to_executorch()
    record, dump = tmp_path / "model.etrecord", tmp_path / "run.etdp"
    program.get_etrecord().save(str(record))
    loaded = Runtime.get().load_program(program.buffer, enable_etdump=True)
    loaded.load_method("forward").execute((x,))
    loaded.write_etdump_result_to_file(str(dump), None)
    seen = run(RECORD_EXPLORER.interpreter(), "etdump_overlay.py", tmp_path, record, dump)
    assert seen["errors"] == [] and "aten::convolution" in seen["labels"], seen
    assert seen["timed"] >= 5, seen
