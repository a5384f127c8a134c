# SPDX-License-Identifier: BSD-3-Clause
"""A new user: a fresh environment, `pip install` of the wheel, an empty folder, nothing of this tree on the path."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from executorch.test.repository.sources import ROOT

WHEEL = os.environ.get("EXECUTORCH_WHEEL", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not WHEEL, reason="this run takes the packages of the tree"),
]

LOWER = """
import sys, torch, executorch.exir
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.backend.utils import get_delegates
from executorch.runtime import Runtime

assert executorch.exir.__file__.startswith(sys.prefix), executorch.exir.__file__
torch.manual_seed(0)
nn = torch.nn
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(288, 10)).eval()
x = torch.randn(1, 3, 8, 8)
expected = model(x)

def distance(module, partitioner, limit, delegates):
    exported = torch.export.export(module, (x,))
    lowered = to_edge_transform_and_lower(exported, partitioner=partitioner)
    assert len(get_delegates(lowered.exported_program().graph)) == delegates
    lowered.to_executorch().save("model.pte")
    (y,) = Runtime.get().load_program("model.pte").load_method("forward").execute([x])
    worst = ((y - expected).abs().max() / expected.abs().max()).item()
    assert worst < limit, worst
    print("ok")

distance(model, [], 1e-5, 0)
distance(model, [XnnpackPartitioner()], 1e-5, 1)
quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config())
prepared = prepare_pt2e(torch.export.export(model, (x,)).module(), quantizer)
prepared(x)
distance(convert_pt2e(prepared), [XnnpackPartitioner()], 0.1, 1)
"""


def command(*words: object, cwd: Path, **variables: str) -> str:
    hidden = ("PYTHON", "VIRTUAL_ENV", "EXECUTORCH_")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(hidden)} | variables
    text = [str(word) for word in words]
    done = subprocess.run(
        text, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{shlex.join(text)}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(
    scope="module", params=["torch==2.13.0", pytest.param("torch", marks=pytest.mark.full)]
)
def python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment with the wheel, all its dependencies, and this PyTorch."""
    folder = tmp_path_factory.mktemp("new_user")
    command(sys.executable, "-m", "venv", "venv", cwd=folder)
    python = folder / "venv" / "bin" / "python"
    index = os.environ.get("TORCH_INDEX_URL")
    extra = ["--index-url", index] if index else []
    command(python, "-m", "pip", "install", "-q", *extra, request.param, "numpy", cwd=folder)
    command(python, "-m", "pip", "install", "-q", request.param, WHEEL, cwd=folder)
    return python


@pytest.mark.req("BLD-001", "BLD-007", "PY-007", "PY-001", "PY-004", "PY-C03")
def test_a_model_is_lowered_in_float_and_8_bits_and_runs(python: Path, tmp_path: Path) -> None:
    assert command(python, "-c", LOWER, cwd=tmp_path).split() == ["ok"] * 3
    command(python, "-m", "pip", "check", cwd=tmp_path)


@pytest.mark.req("BLD-019", "PY-008")
def test_the_first_screen_of_the_readme(python: Path, tmp_path: Path) -> None:
    """Its commands behind `pip install .`, then its Python."""
    text = (ROOT / "README.md").read_text()
    (block,) = re.findall(r"```\npip install \.\n(.*?)```", text, re.S)
    assert text[: text.index(block)].count("\n") < 25, "not on the first screen"
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    printed = command("bash", "-ec", block, cwd=tmp_path, PATH=path)
    assert printed.splitlines()[-1] == "torch.Size([1, 1000])"
    assert (tmp_path / "mv2_xnnpack_fp32.pte").exists()
    (code,) = re.findall(r"```python\n(.*?)```", text, re.S)
    assert command(python, "-c", code, cwd=tmp_path).startswith("[tensor(")
