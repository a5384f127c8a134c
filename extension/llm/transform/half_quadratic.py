# SPDX-License-Identifier: BSD-3-Clause
"""Scales of symmetric quantization by least squares (half-quadratic): the numbers of torchao's "hqq_scale_only", bit
for bit, without the work on groups whose scale moves no more, and in little memory.

The scale s of a group w and its codes q are found by turns: q = clamp(round(w / s)), s = <w, q> / <q, q>. A turn that
leaves s as it was leaves it so for ever: of 4 bits nearly all groups stand still after a few of the 20 turns. A turn
goes over those of the whole weight that still move, so many of them together as fill torch's operators."""

from __future__ import annotations

import torch
from torch import Tensor

_TURNS = 20
_ENOUGH = 1e-5  # no turn follows one in which no scale of the whole weight moved by more than this part of itself
_EPS = torch.finfo(torch.float32).eps
_TOGETHER = (
    1 << 15
) - 1  # weights: they stay in the cache, and torch shares no such work among threads


@torch.no_grad()
def quantize_by_least_squares(
    weight: Tensor, group: int, low: int, high: int
) -> tuple[Tensor, Tensor]:
    """Codes (int8, the shape of `weight`) and scales (its type, [rows, columns / group]) of a matrix whose columns
    `group` divides. Codes lie from `low` to `high`."""
    groups = weight.reshape(-1, group)
    count = max(1, _TOGETHER // group)
    scales = torch.cat([_widest(some, low, high) for some in groups.split(count)])
    moving = torch.arange(len(groups))
    for _ in range(_TURNS):
        turns = [_turn(groups, ids, scales, low, high) for ids in moving.split(count)]
        moving = torch.cat([still for still, _ in turns])
        if not len(moving) or max(by for _, by in turns) < _ENOUGH:
            break
    codes = torch.empty(groups.shape, dtype=torch.int8)
    for out, some, by in zip(
        codes.split(count), groups.split(count), scales.split(count), strict=True
    ):
        out.copy_(_codes(some.float(), by, low, high))
    shape = weight.shape[0], weight.shape[1] // group
    return codes.view(weight.shape), scales.view(shape).to(weight.dtype)


def _widest(groups: Tensor, low: int, high: int) -> Tensor:
    """Scales that clamp nothing, where the first turn begins."""
    return (groups.float().abs().amax(1) / max(abs(low), abs(high))).clamp_min_(_EPS)


def _codes(groups: Tensor, scales: Tensor, low: int, high: int) -> Tensor:
    return (groups / scales.unsqueeze(1)).round_().clamp_(low, high)


def _turn(
    groups: Tensor, ids: Tensor, scales: Tensor, low: int, high: int
) -> tuple[Tensor, Tensor]:
    """Moves the scales of some groups; which of them moved, and how far the one that moved most."""
    some, before = groups.index_select(0, ids).float(), scales.index_select(0, ids)
    codes = _codes(some, before, low, high)
    norms = (codes * codes).sum(1)
    found = torch.where(norms > 0, codes.mul_(some).sum(1) / norms, before).clamp_min_(_EPS)
    scales.index_copy_(0, ids, found)
    return ids[found != before], ((found - before).abs() / before).max()
