# SPDX-License-Identifier: BSD-3-Clause
"""How well a model predicts a text: exp of the mean negative log-likelihood of its tokens, lower is better.

usage: python -m executorch.extension.llm.export.perplexity PROGRAM.pte --tokenizer tokenizer.json --text FILE
           [--tokens 20000] [--window 255]

The text is cut into windows, each read from position 0; the first token of a window is given, the others are counted.
The program must give the logits of every token: export it with debug.generate_full_logits=True.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import torch
from torch.nn import functional

from executorch.extension.llm.export.tokens import read_tokenizer

# tokens int64 (1, n) of a text's beginning -> logits (n, vocabulary), one row after each token
Logits = Callable[[torch.Tensor], torch.Tensor]


def windows(tokens: Sequence[int], window: int) -> Iterator[torch.Tensor]:
    """(1, up to `window`) each, at least two tokens."""
    for start in range(0, len(tokens) - 1, window):
        piece = tokens[start : start + window]
        if len(piece) > 1:
            yield torch.tensor([piece])


@torch.no_grad()
def perplexity(logits: Logits, tokens: Sequence[int], window: int) -> float:
    """Raises ValueError for a text of fewer than two tokens, and for logits of other than one row a token."""
    total, count = 0.0, 0
    for piece in windows(tokens, window):
        rows = logits(piece)
        if rows.shape[0] != piece.shape[1]:
            raise ValueError(
                f"expected logits of {piece.shape[1]} tokens, found {rows.shape[0]}; export the program with "
                "debug.generate_full_logits=True"
            )
        losses = functional.cross_entropy(rows[:-1].float(), piece[0, 1:], reduction="sum")
        total, count = total + float(losses), count + piece.shape[1] - 1
    if not count:
        raise ValueError(f"expected a text of two tokens or more, found {len(tokens)}")
    return math.exp(total / count)


def module_logits(model: torch.nn.Module) -> Logits:
    """Of a decoder of model/transformer.py, with or without a cache, whatever logits it is exported for."""

    def logits(tokens: torch.Tensor) -> torch.Tensor:
        kept, model.generate_full_logits = model.generate_full_logits, True
        try:
            options = {"input_pos": torch.tensor([0])} if model.use_kv_cache else None
            return model(tokens, options)[0]
        finally:
            model.generate_full_logits = kept

    return logits


def program_logits(path: str | Path) -> Logits:
    from executorch.runtime import Runtime

    method = Runtime.get().load_program(str(path)).load_method("forward")
    with_cache = method.metadata.num_inputs() == 2

    def logits(tokens: torch.Tensor) -> torch.Tensor:
        inputs = [tokens, torch.tensor([0])] if with_cache else [tokens]
        out = method.execute(inputs)[0]
        return out[0] if out.dim() == 3 else out

    return logits


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--tokenizer", required=True, help="a tokenizer.json")
    parser.add_argument("--text", required=True, help="a file of text")
    parser.add_argument("--tokens", type=int, default=20000, help="how many of the text's tokens")
    parser.add_argument("--window", type=int, default=255)
    options = parser.parse_args(argv)
    try:
        text = Path(options.text).read_text(encoding="utf-8")
        tokens = read_tokenizer(options.tokenizer)(text)[: options.tokens]
        found = perplexity(program_logits(options.program), tokens, options.window)
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"perplexity: error: {error}")
    print(f"{options.program}: perplexity {found:.4f} over {len(tokens)} tokens")


if __name__ == "__main__":
    main()
