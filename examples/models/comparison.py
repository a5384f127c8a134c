# SPDX-License-Identifier: BSD-3-Clause
"""How far outputs of a program are from those of its model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch


def largest_error(found: Sequence[Any], expected: Sequence[Any]) -> float:
    """||found - expected|| / ||expected|| of the worst output; infinite for other sizes, or where one is no number."""
    worst = 0.0
    for each, want in zip(found, expected, strict=True):
        if not isinstance(want, torch.Tensor):
            worst = max(worst, 0.0 if each == want else float("inf"))
            continue
        if each.shape != want.shape:
            return float("inf")
        gap = float((each.double() - want.double()).norm() / want.double().norm().clamp(min=1e-9))
        worst = max(worst, gap if gap == gap else float("inf"))
    return worst
