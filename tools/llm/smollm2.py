# SPDX-License-Identifier: BSD-3-Clause
"""What is measured on SmolLM2-135M-Instruct: its text beside transformers', and how well precisions predict a text.

The text is the manual that Python ships; weights are rounded and chosen by its end, which is not predicted.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import torch

from executorch.examples.demo import smollm2
from executorch.extension.llm.checkpoint.reader import open_checkpoint
from executorch.extension.llm.checkpoint.tokenizer import tokenizer_json
from executorch.extension.llm.export.config.reading import read
from executorch.extension.llm.export.models import load_model
from executorch.extension.llm.export.perplexity import perplexity, program_logits
from executorch.extension.llm.export.pipeline import export_llama
from executorch.extension.llm.export.texts import manual, read_tokenizer
from executorch.runtime import Runtime
from executorch.tools.llm.rotation import rotated

Row = dict[str, Any]
WINDOW = 255
# 254 of each window's tokens are predicted: 20,066
TOKENS = 79 * WINDOW
_SHAPE = {
    "dim": 576,
    "n_layers": 30,
    "n_heads": 9,
    "n_kv_heads": 3,
    "hidden_dim": 1536,
    "vocab_size": 49152,
    "norm_eps": 1e-5,
    "rope_theta": 100000.0,
}
_FEW_BITS = (
    "quantization.qmode=8da4w",
    "quantization.group_size=32",
    "quantization.embedding_quantize='4,32'",
)
_ROUNDED = ("quantization.qmode=8da4w-gptq", *_FEW_BITS[1:])
_SHARED = ("model.use_shared_embedding=True",)
_SIZES = ("100 MB", "115 MB")


def _budget(wanted: str, mode: str = "") -> tuple[str, ...]:
    return (f"quantization.budget='{wanted}'", *([f"quantization.qmode={mode}"] if mode else []))


_EIGHT_BIT_CACHE = (
    smollm2.FLOAT,
    "model.quantize_kv_cache=True",
    "model.use_sdpa_with_kv_cache=True",
)


@dataclass(frozen=True)
class Precision:
    """A row of the table of perplexities: what it is called, and what the export is asked for."""

    name: str
    options: tuple[str, ...] = ()
    is_rotated: bool = False


PEER = "transformers, float"
PRECISIONS = (
    Precision("float (GGUF blocks dequantized)", (smollm2.FLOAT,)),
    Precision("float, 8-bit KV cache", _EIGHT_BIT_CACHE),
    Precision("the GGUF file's own bits (qmode=gguf)"),
    Precision("own bits, caches of fp16", ("model.use_sdpa_with_kv_cache=True",)),
    Precision("own bits, 8-bit KV cache", _EIGHT_BIT_CACHE[1:]),
    Precision("own bits, activations of 16 bits", ("quantization.activation_bits=16",)),
    Precision("8da4w, group 32, embedding 4 bits, group 32", _FEW_BITS),
    Precision("the same bits, weights rotated (R1, R2)", _FEW_BITS, is_rotated=True),
    Precision("the same bits, rounded by a text (8da4w-gptq)", _ROUNDED),
    *(Precision(f"8da4w, budget of {size}", _budget(size, "8da4w")) for size in _SIZES),
    *(
        Precision(f"8da4w, shared table, budget of {size}", _SHARED + _budget(size, "8da4w"))
        for size in _SIZES
    ),
    *(
        Precision(f"blocks, budget of {budget}", _budget(budget))
        for budget in ("80 MB", "90 MB", "100 MB", "perplexity +10%", "perplexity +3%")
    ),
)


def greedy(folder: Path, only: str = "") -> Iterator[Row]:
    """A row for each prompt: whether our float program's tokens are transformers', and at which margin they part."""
    from tokenizers import Tokenizer

    gguf = smollm2.fetch(folder)
    path = smollm2.export(gguf, folder, [smollm2.FLOAT])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    ours, theirs = smollm2.program_logits(path), smollm2.transformers_logits(gguf)
    for prompt in (each for each in smollm2.PROMPTS if only in each):
        ids = tokenizer.encode(prompt).ids
        start = time.perf_counter()
        found, leads = smollm2.greedy(ours, ids, smollm2.ANSWER, stop=2)
        seconds = time.perf_counter() - start
        expected, _ = smollm2.greedy(theirs, ids, smollm2.ANSWER, stop=2)
        apart = next((i for i, pair in enumerate(zip(found, expected)) if pair[0] != pair[1]), None)
        yield {
            "table": "greedy",
            "row": prompt,
            "tokens": len(found),
            "same": smollm2.same(found, expected, leads),
            "apart_at": apart,
            "smallest_lead": min(leads),
            "tokens_per_second": len(found) / seconds,
        }


def transformers_perplexity(folder: Path, tokens: list[int]) -> float:
    from transformers import AutoModelForCausalLM

    gguf = smollm2.fetch(folder)
    model = AutoModelForCausalLM.from_pretrained(
        str(gguf.parent), gguf_file=gguf.name, dtype=torch.float32
    ).eval()
    return perplexity(lambda piece: model(piece).logits[0], tokens, WINDOW)


def perplexities(folder: Path, only: str = "") -> Iterator[Row]:
    """transformers' row first, then those of PRECISIONS, each run by our runtime."""
    gguf = open_checkpoint(smollm2.fetch(folder)).gguf
    tokens = read_tokenizer(None, tokenizer_json(gguf))(manual())[:TOKENS]
    predicted = TOKENS // WINDOW * (WINDOW - 1)
    base = {"table": "perplexity", "tokens": predicted}
    if only in PEER:
        yield {**base, "row": PEER, "perplexity": transformers_perplexity(folder, tokens)}
    for precision in (each for each in PRECISIONS if only in each.name):
        path = export(folder, precision)
        start = time.perf_counter()
        found = perplexity(program_logits(path), tokens, WINDOW)
        yield {
            **base,
            "row": precision.name,
            "perplexity": found,
            "bytes": path.stat().st_size,
            "seconds": time.perf_counter() - start,
            "decode": _decode(path),
        }


def _decode(path: Path, tokens: int = 32, rounds: int = 9) -> float:
    """Tokens of a second, one by one from an empty cache on: the median round."""
    method = Runtime.get().load_program(path).load_method("forward")
    token, seconds = torch.tensor([[7]]), []
    for _ in range(rounds):
        start = time.perf_counter()
        for place in range(tokens):
            method.execute([token, torch.tensor([place])])
        seconds.append(time.perf_counter() - start)
    return tokens / median(seconds)


def export(folder: Path, precision: Precision) -> Path:
    """A program that gives the logits of all tokens."""
    gguf = smollm2.fetch(folder)
    where = folder / "perplexity"
    where.mkdir(parents=True, exist_ok=True)
    options = [
        "model.use_kv_cache=True",
        "backend.xnnpack.enabled=True",
        "debug.generate_full_logits=True",
        f"export.max_seq_length={WINDOW + 1}",
        f"export.max_context_length={WINDOW + 1}",
        f"export.output_name={where / 'model.pte'}",
        *precision.options,
    ]
    source = ["base.model_class=smollm2", f"base.checkpoint={gguf}"]
    if precision.is_rotated:
        source = _rotated_checkpoint(gguf, where)
    return Path(export_llama(read(None, [*source, *options])))


def _rotated_checkpoint(gguf: Path, where: Path) -> list[str]:
    """Options that name the rotated weights; the output layer is no longer the embedding table."""
    loaded = load_model(read(None, ["base.model_class=smollm2", f"base.checkpoint={gguf}"]))
    torch.save(rotated(loaded.model, loaded.args), where / "rotated.pth")
    (where / "params.json").write_text(json.dumps(_SHAPE))
    return [
        "base.model_class=llama2",
        f"base.checkpoint={where / 'rotated.pth'}",
        f"base.params={where / 'params.json'}",
    ]
