# SPDX-License-Identifier: BSD-3-Clause
"""Masks that are added to attention scores: float32 (queries, keys), 0 where a query may look and -inf elsewhere."""

from __future__ import annotations

import torch


def additive(visible: torch.Tensor) -> torch.Tensor:
    """0 where true, -inf where false."""
    return torch.where(visible, 0.0, float("-inf"))


def causal_mask(queries: torch.Tensor, num_keys: int, window: int | None = None) -> torch.Tensor:
    """Keys stand at 0 .. num_keys - 1, queries at the positions given (int64, (queries,)).

    A query sees itself and what came before, with `window` the last `window` of them.
    """
    keys = torch.arange(num_keys)
    distance = queries[:, None] - keys[None, :]
    visible = distance >= 0
    if window is not None:
        visible = visible & (distance < window)
    return additive(visible)


def positions_mask(
    cache_positions: torch.Tensor, queries: torch.Tensor, window: int, sink: int = 0
) -> torch.Tensor:
    """Keys stand where `cache_positions` (keys,) says, -1 for nowhere; the first `sink` positions stay visible."""
    held = cache_positions[None, :]
    distance = queries[:, None] - held
    near = distance < window
    if sink:
        near = near | (held < sink)
    return additive((held >= 0) & (distance >= 0) & near)


def ring_mask(
    cache_positions: torch.Tensor,
    window_size: int,
    start_pos: torch.Tensor | int,
    seq_len: int,
    sink_size: int = 0,
) -> torch.Tensor:
    """`positions_mask` of the `seq_len` tokens from `start_pos` on."""
    queries = start_pos + torch.arange(seq_len)
    return positions_mask(cache_positions, queries, window_size, sink_size)
