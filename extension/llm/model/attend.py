# SPDX-License-Identifier: BSD-3-Clause
"""Attention in operators of PyTorch that any backend has."""

from __future__ import annotations

import torch


def attend(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: torch.Tensor,
    scale: float | None = None,
    softcap: float | None = None,
) -> torch.Tensor:
    """softmax(q k^T * scale + mask) v: q (.., tokens, head), k and v (.., keys, head), mask (tokens, keys). Without
    `scale` the queries have theirs."""
    scores = torch.matmul(q, k.transpose(-1, -2))
    if scale is not None:
        scores = scores * scale
    return torch.matmul(attention_weights(scores, mask, softcap).to(q.dtype), v)


def attention_weights(
    scores: torch.Tensor, mask: torch.Tensor, softcap: float | None = None
) -> torch.Tensor:
    """softmax(scores + mask) in float32; halves take a mask of halves as it is, since few backends add two dtypes."""
    as_halves = mask.dtype != torch.float32 and softcap is None
    if not as_halves:
        scores = scores.float()
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    scores = scores + mask
    return torch.softmax(scores.float() if as_halves else scores, -1)
