# SPDX-License-Identifier: BSD-3-Clause
"""How far outputs of a program are from those of its model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch


def largest_error(found: Sequence[Any], expected: Sequence[Any]) -> float:
    """||found - expected|| / ||expected|| of the worst output; infinite for other sizes, and where only one has an
    infinity or no number."""
    worst = 0.0
    for each, want in zip(found, expected, strict=True):
        if isinstance(want, torch.Tensor):
            worst = max(worst, _error(each, want))
        else:
            worst = max(worst, 0.0 if each == want else math.inf)
    return worst


def _error(found: torch.Tensor, expected: torch.Tensor) -> float:
    if found.shape != expected.shape or found.is_complex() != expected.is_complex():
        return math.inf
    wide = torch.complex128 if expected.is_complex() else torch.float64
    found, expected = found.to(wide), expected.to(wide)
    same = (found == expected) | (found.isnan() & expected.isnan())
    gap = torch.where(same, 0, found - expected).norm()
    error = float(gap / expected[expected.isfinite()].norm().clamp(min=1e-9))
    return math.inf if math.isnan(error) else error
