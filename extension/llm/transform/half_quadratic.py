# SPDX-License-Identifier: BSD-3-Clause
"""Scales of symmetric quantization by least squares (half-quadratic): the numbers of torchao's "hqq_scale_only", bit
for bit, without the work on groups whose scale moves no more, and in little memory.

The scale s of a group w and its codes q are found by turns: q = clamp(round(w / s)), s = <w, q> / <q, q>. A turn that
leaves s as it was leaves it so for ever: of 4 bits nearly all groups stand still after a few of the 20 turns."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

_TURNS = 20
_ENOUGH = 1e-5  # no turn follows one in which no scale of the whole weight moved by more than this part of itself
_EPS = torch.finfo(torch.float32).eps
_CHUNK = (
    (1 << 15) - 1
)  # weights worked on together: they stay in the cache, and torch shares no such work among threads


@torch.no_grad()
def quantize_by_least_squares(
    weight: Tensor, group: int, low: int, high: int
) -> tuple[Tensor, Tensor]:
    """Codes (int8, the shape of `weight`) and scales (its type, [rows, columns / group]) of a matrix whose columns
    `group` divides. Codes lie from `low` to `high`."""
    codes = torch.empty(weight.shape, dtype=torch.int8)
    scales = torch.empty(weight.shape[0], weight.shape[1] // group)
    moved, turns = torch.zeros(_TURNS), []
    for rows in _chunks(weight):
        fitted, by = _fit(_groups(weight[rows], group), low, high, _TURNS)
        scales[rows] = fitted.view_as(scales[rows])
        moved[: len(by)] = moved[: len(by)].maximum(torch.stack(by))
        turns.append(len(by))
    last = next((turn for turn in range(_TURNS) if moved[turn] < _ENOUGH), _TURNS) + 1
    for rows, taken in zip(_chunks(weight), turns, strict=True):
        groups = _groups(weight[rows], group)
        if taken > last:
            scales[rows] = _fit(groups, low, high, last)[0].view_as(scales[rows])
        codes[rows] = _codes(groups, scales[rows].view(-1), low, high).view_as(codes[rows])
    return codes, scales.to(weight.dtype)


def _chunks(weight: Tensor) -> Iterator[slice]:
    count = max(1, _CHUNK // weight.shape[1])
    return (slice(start, start + count) for start in range(0, weight.shape[0], count))


def _groups(rows: Tensor, group: int) -> Tensor:
    return rows.float().reshape(-1, group)


def _codes(groups: Tensor, scales: Tensor, low: int, high: int) -> Tensor:
    return (groups / scales.unsqueeze(1)).round_().clamp_(low, high)


def _fit(groups: Tensor, low: int, high: int, turns: int) -> tuple[Tensor, list[Tensor]]:
    """Scales [groups], and how far those moved by most moved in each turn; turns that move none are left out."""
    scales = (groups.abs().amax(1) / max(abs(low), abs(high))).clamp_min_(_EPS)
    moving, moved = torch.arange(len(scales)), []
    for _ in range(turns):
        codes = _codes(groups, before := scales[moving], low, high)
        norms = (codes * codes).sum(1)
        found = torch.where(norms > 0, codes.mul_(groups).sum(1) / norms, before).clamp_min_(_EPS)
        moved.append(((found - before).abs() / before).max())
        scales[moving] = found
        still = found != before
        moving, groups = moving[still], groups[still]
        if not len(moving):
            break
    return scales, moved
