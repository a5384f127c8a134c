# SPDX-License-Identifier: BSD-3-Clause
"""How much faster a model is with attention and caches by operators (use_sdpa_with_kv_cache) than by the plain graph:
SmolLM2-135M in float on XNNPACK, after a text of some length: reading it at once, and writing tokens after it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from executorch.examples.demo import smollm2
from executorch.extension.llm.export.config.reading import read
from executorch.extension.llm.export.pipeline import export_llama
from executorch.runtime import Runtime

Row = dict[str, Any]
CONTEXTS = (128, 1024, 4096)
ROWS = 4112  # of the caches, and one more than the longest call
WRITTEN = 8  # tokens
TURNS = {128: 5, 1024: 3, 4096: 1}


def factors(folder: Path, only: str = "") -> Iterator[Row]:
    gguf = smollm2.fetch(folder)
    where = folder / "factor"
    where.mkdir(parents=True, exist_ok=True)
    methods = {}
    for name, custom in (("plain", False), ("operators", True)):
        options = [
            "base.model_class=smollm2",
            f"base.checkpoint={gguf}",
            "model.use_kv_cache=True",
            f"model.use_sdpa_with_kv_cache={custom}",
            "backend.xnnpack.enabled=True",
            smollm2.FLOAT,
            f"export.max_seq_length={ROWS}",
            f"export.max_context_length={ROWS}",
            f"export.output_name={where / f'{name}.pte'}",
        ]
        path = export_llama(read(None, options))
        methods[name] = Runtime.get().load_program(path).load_method("forward")
    for context in (each for each in CONTEXTS if only in str(each)):
        times = {name: measured(method, context) for name, method in methods.items()}
        for phase, index in (("prefill", 0), ("decode", 1)):
            yield {
                "table": "factor",
                "row": f"{phase} {context}",
                **{name: both[index] for name, both in times.items()},
            }


def measured(method: Any, context: int) -> tuple[float, float]:
    """Medians in seconds: reading `context` tokens in one call, and writing one token after them."""
    tokens = (torch.arange(context) % 1000).unsqueeze(0)
    reading, writing = [], []
    for _ in range(TURNS[context]):
        start = time.perf_counter()
        method.execute([tokens, torch.tensor([0])])
        reading.append(time.perf_counter() - start)
        for place in range(context, context + WRITTEN):
            start = time.perf_counter()
            method.execute([torch.tensor([[7]]), torch.tensor([place])])
            writing.append(time.perf_counter() - start)
    return statistics.median(reading), statistics.median(writing)
