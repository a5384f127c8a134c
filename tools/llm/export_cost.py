# SPDX-License-Identifier: BSD-3-Clause
"""What an export of a language model costs: seconds of each stage, peak resident memory, bytes of the file; each in a
process of its own.

usage: python -m executorch.tools.llm.export_cost option=value ...      (one export; prints its row as JSON)
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from executorch.examples.demo import smollm2

Row = dict[str, Any]
_CACHES = (
    "model.use_kv_cache=True",
    "model.use_sdpa_with_kv_cache=True",
    "backend.xnnpack.enabled=True",
)
LLAMA_1B = {
    "dim": 2048,
    "n_layers": 16,
    "n_heads": 32,
    "n_kv_heads": 8,
    "vocab_size": 128256,
    "ffn_dim_multiplier": 1.5,
    "multiple_of": 256,
    "norm_eps": 1e-5,
    "rope_theta": 500000.0,
    "use_scaled_rope": True,
}


@dataclass(frozen=True)
class Upstream:
    """What the same export took with upstream's wheel 1.4.1: processor seconds on one core (AMD Zen 4), at most 1,200;
    `captured` of them in its calls of torch.export."""

    seconds: float | None = None
    captured: float | None = None
    peak: float | None = None
    size: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Export:
    """`base` names model class and checkpoint; "{gguf}" and "{params}" become files."""

    name: str
    base: tuple[str, ...]
    options: tuple[str, ...] = ()
    params: dict[str, Any] | None = None
    upstream: Upstream = Upstream()


def _bits(group: int, embedding: str) -> tuple[str, ...]:
    return (
        "quantization.qmode=8da4w",
        f"quantization.group_size={group}",
        f"quantization.embedding_quantize='{embedding}'",
    )


_SMOLLM2 = ("base.model_class=smollm2", "base.checkpoint={gguf}")
_QWEN = ("base.model_class=qwen3_0_6b", "base.checkpoint=random")
_LLAMA = ("base.model_class=llama3_2", "base.checkpoint=random", "base.params={params}")
EXPORTS = (
    Export(
        "SmolLM2-135M, float",
        _SMOLLM2,
        (smollm2.FLOAT,),
        upstream=Upstream(282.2, 88.9, 2924e6, 651.71e6),
    ),
    Export(
        "SmolLM2-135M, 8da4w 32, embedding 4 bits",
        _SMOLLM2,
        _bits(32, "4,32"),
        upstream=Upstream(614.6, 166.5, 2980e6, 93.98e6),
    ),
    Export(
        "Qwen3-0.6B, 8da4w 32, embedding 4 bits",
        _QWEN,
        _bits(32, "4,32"),
        upstream=Upstream(721.7, 178.2, 5846e6, 433.28e6),
    ),
    Export("Qwen3-0.6B, 8da4w 128, embedding 8 bits", _QWEN, _bits(128, "8,0")),
    Export(
        "Llama-3.2-1B, 8da4w 32, embedding 4 bits",
        _LLAMA,
        _bits(32, "4,32"),
        LLAMA_1B,
        Upstream(576.6, 70.1, 10624e6, 859.66e6),
    ),
    Export("Llama-3.2-1B, 8da4w 128, embedding 8 bits", _LLAMA, _bits(128, "8,0"), LLAMA_1B),
)


def costs(folder: Path, only: str = "") -> Iterator[Row]:
    for export in (each for each in EXPORTS if only in each.name):
        with tempfile.TemporaryDirectory() as work:
            yield {"table": "export", "row": export.name, **_measured(export, folder, Path(work))}


def _measured(export: Export, folder: Path, work: Path) -> Row:
    files = {"gguf": smollm2.fetch(folder) if "{gguf}" in export.base[1] else None}
    if export.params is not None:
        files["params"] = work / "params.json"
        files["params"].write_text(json.dumps(export.params))
    words = [
        *(word.format(**files) for word in export.base),
        *_CACHES,
        *export.options,
        f"export.output_name={work / 'model.pte'}",
    ]
    command = [sys.executable, "-m", "executorch.tools.llm.export_cost", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {"error": done.stderr[-400:]}
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    from executorch.extension.llm.export.config.reading import read
    from executorch.extension.llm.export.pipeline import export_llama
    from executorch.extension.llm.export.stages import Stages, peak_bytes

    before, stages = peak_bytes(), Stages()
    path = Path(export_llama(read(None, sys.argv[1:]), stages=stages))
    row = {
        "stages": {stage.name: stage.seconds for stage in stages.done},
        "cpu": {stage.name: stage.cpu for stage in stages.done},
        "peak": peak_bytes(),
        "peak_of_imports": before,
        "bytes": path.stat().st_size,
    }
    print(json.dumps(row))


if __name__ == "__main__":
    main()
