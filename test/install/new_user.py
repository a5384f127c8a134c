# SPDX-License-Identifier: BSD-3-Clause
"""What a new user does with a wheel: a fresh environment, an empty folder, nothing of this tree on the path."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

# Float on the portable kernels, float and int8 on XNNPACK, each beside eager: prints "ok" three times.
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


def environment_with(
    wheel: str | Path, torch: str, folder: Path, base: str | Path = sys.executable
) -> Path:
    """The interpreter of a fresh environment with the wheel, all its dependencies, and this PyTorch."""
    command(base, "-m", "venv", "venv", cwd=folder)
    python = folder / "venv" / "bin" / "python"
    index = os.environ.get("TORCH_INDEX_URL")
    extra = ["--index-url", index] if index else []
    command(python, "-m", "pip", "install", "-q", *extra, torch, "numpy", cwd=folder)
    command(python, "-m", "pip", "install", "-q", torch, wheel, cwd=folder)
    return python
