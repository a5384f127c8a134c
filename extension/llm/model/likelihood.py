# SPDX-License-Identifier: BSD-3-Clause
"""How well a decoder predicts a text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import torch
from torch.nn import functional

# tokens int64 (1, n) of a text's beginning -> logits (n, vocabulary), one row after each token
Logits = Callable[[torch.Tensor], torch.Tensor]


def windows(tokens: Sequence[int], window: int) -> Iterator[torch.Tensor]:
    """(1, up to `window`) each, at least two tokens."""
    for start in range(0, len(tokens) - 1, window):
        piece = tokens[start : start + window]
        if len(piece) > 1:
            yield torch.tensor([piece])


@torch.no_grad()
def mean_loss(logits: Logits, pieces: Iterable[torch.Tensor]) -> float:
    """Nats of a token: the mean negative log-likelihood of all but the first of each piece. Raises ValueError for
    logits of other than one row a token."""
    total, count = 0.0, 0
    for piece in pieces:
        rows = logits(piece)
        if rows.shape[0] != piece.shape[1]:
            raise ValueError(
                f"expected logits of {piece.shape[1]} tokens, found {rows.shape[0]}; export the program with "
                "debug.generate_full_logits=True"
            )
        losses = functional.cross_entropy(rows[:-1].float(), piece[0, 1:], reduction="sum")
        total, count = total + float(losses), count + piece.shape[1] - 1
    return total / count


def module_logits(model: torch.nn.Module) -> Logits:
    """Of a decoder of model/transformer.py, with or without a cache, whatever logits it is exported for."""

    def logits(tokens: torch.Tensor) -> torch.Tensor:
        kept, model.generate_full_logits = model.generate_full_logits, True
        try:
            with_positions = model.params.use_kv_cache
            options = {"input_pos": torch.tensor([0])} if with_positions else None
            return model(tokens, options)[0]
        finally:
            model.generate_full_logits = kept

    return logits
