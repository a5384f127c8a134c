# SPDX-License-Identifier: BSD-3-Clause
"""Each family once at its smallest true shape: exported with random weights, and its logits beside those of the eager
model with the same quantized weights; each in a process of its own.

usage: python -m executorch.tools.llm.true_shapes model_class [params.json]     (one shape; prints its row as JSON)
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch
from torchao.quantization.utils import compute_error

from executorch.extension.llm.export.config.llm_config import LlmConfig
from executorch.extension.llm.export.config.reading import build
from executorch.extension.llm.export.pipeline import partitioners_for, prepare
from executorch.extension.llm.export.stages import Stages, peak_bytes
from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.families import FAMILIES
from executorch.extension.llm.model.transformer import construct_transformer
from executorch.runtime import Runtime
from executorch.tools.llm.export_cost import LLAMA_1B

Row = dict[str, Any]
TOKENS = torch.tensor([[5, 17, 3, 90, 42, 7, 11, 80]])
STEPS = ((0, 6), (6, 7), (7, 8))  # a prompt, then token by token


def _params(name: str) -> dict[str, Any]:
    return json.loads((Path(str(files("executorch"))) / str(FAMILIES[name].params)).read_text())


@cache
def weights(name: str) -> int:
    return count(ModelArgs(**_params(name)), FAMILIES[name].tied)


def count(args: ModelArgs, tied: bool) -> int:
    """How many weights a shape has; an output layer that is the table of embeddings counts once."""
    with torch.device("meta"):
        model = construct_transformer(replace(args, max_seq_len=8, max_context_len=8))
    twice = model.output.weight.numel() if tied else 0
    return sum(weight.numel() for weight in model.parameters()) - twice


def smallest() -> list[str]:
    """A class of each folder of params files, the smallest family first."""
    found: dict[str, str] = {}
    for name, family in FAMILIES.items():
        if family.params is not None:
            folder = family.params.split("/")[2]
            found[folder] = min(found.get(folder, name), name, key=weights)
    return sorted(found.values(), key=weights)


def shapes(_folder: Path, only: str = "") -> Iterator[Row]:
    for name in (*smallest(), "llama3_2"):
        if only not in name:
            continue
        with tempfile.TemporaryDirectory() as work:
            params = []
            if name == "llama3_2":
                params = [str(Path(work) / "params.json")]
                Path(params[0]).write_text(json.dumps(LLAMA_1B))
            command = [sys.executable, "-m", "executorch.tools.llm.true_shapes", name, *params]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        row = {"table": "shapes", "row": name}
        if done.returncode == 0:
            yield {**row, **json.loads(done.stdout.splitlines()[-1])}
        else:
            yield {**row, "error": done.stderr[-400:]}


def _config(name: str, params: str | None, path: Path) -> LlmConfig:
    capped = params is None and "attn_logit_softcapping" in _params(name)  # not of the operator
    return build(
        {
            "base": {"model_class": name, "checkpoint": "random", "params": params},
            "model": {"use_kv_cache": True, "use_sdpa_with_kv_cache": not capped},
            "backend": {"xnnpack": {"enabled": True}},
            "quantization": {"qmode": "8da4w", "group_size": 32, "embedding_quantize": "4,32"},
            "export": {"output_name": str(path)},
        }
    )


def measure(name: str, params: str | None) -> Row:
    """Of the process, which must have run nothing else."""
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as work:
        path, start = Path(work) / "model.pte", time.process_time()
        config = _config(name, params, path)
        manager, loaded = prepare(config, Stages(say=False))
        expected, cpu = _eager(manager.model), time.process_time() - start
        start = time.process_time()
        manager.export().to_edge_transform_and_lower(partitioners_for(config)).to_executorch()
        manager.save_to_pte(str(path))
        cpu += time.process_time() - start
        row = {"cpu": cpu, "peak": peak_bytes(), "bytes": path.stat().st_size}
        args = loaded.args
        del manager, loaded
        found = _program(path)
    decibels = float(compute_error(expected, found))
    return {**row, "weights": count(args, FAMILIES[name].tied), "decibels": decibels}


@torch.no_grad()
def _eager(model: torch.nn.Module) -> torch.Tensor:
    """Leaves the model's caches as they were."""
    kept = [(value, value.clone()) for value in model.buffers()]
    steps = [model(TOKENS[:, a:b], {"input_pos": torch.tensor([a])}).clone() for a, b in STEPS]
    for value, before in kept:
        value.copy_(before)
    return torch.cat(steps)


def _program(path: Path) -> torch.Tensor:
    method = Runtime.get().load_program(str(path)).load_method("forward")
    calls = [[TOKENS[:, a:b].clone(), torch.tensor([a])] for a, b in STEPS]
    return torch.cat([method.execute(call)[0].clone() for call in calls])


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps(measure(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)))
