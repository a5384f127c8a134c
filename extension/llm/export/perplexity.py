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
from collections.abc import Sequence
from pathlib import Path

import torch

from executorch.extension.llm.export.texts import read_tokenizer
from executorch.extension.llm.model.likelihood import Logits, mean_loss, windows


def perplexity(logits: Logits, tokens: Sequence[int], window: int) -> float:
    """Raises ValueError for a text of fewer than two tokens, and for logits of other than one row a token."""
    pieces = list(windows(tokens, window))
    if not pieces:
        raise ValueError(f"expected a text of two tokens or more, found {len(tokens)}")
    return math.exp(mean_loss(logits, pieces))


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
