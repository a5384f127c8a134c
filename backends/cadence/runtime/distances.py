# SPDX-License-Identifier: BSD-3-Clause
"""How far results are apart, in float64. Other sizes, or NaN and infinities in other places, are NaN."""

from __future__ import annotations

import torch
from torch import Tensor


def _finite(found: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor] | None:
    """What is finite of both."""
    if found.shape != wanted.shape:
        return None
    have, want = found.double(), wanted.double()
    same = torch.equal(have.isnan(), want.isnan()) and torch.equal(
        have.nan_to_num(0, 1, -1)[have.isinf()], want.nan_to_num(0, 1, -1)[want.isinf()]
    )
    finite = have.isfinite() & want.isfinite()
    return (
        (have[finite], want[finite]) if same and torch.equal(have.isinf(), want.isinf()) else None
    )


def rms(found: Tensor, wanted: Tensor) -> float:
    values = _finite(found, wanted)
    if values is None:
        return float("nan")
    have, want = values
    return float((have - want).square().mean().sqrt()) if have.numel() else 0.0


def normalized_rms(found: Tensor, wanted: Tensor) -> float:
    values = _finite(found, wanted)
    size = float(values[1].square().mean().sqrt()) if values and values[1].numel() else 0.0
    apart = rms(found, wanted)
    return apart / size if size else apart


def max_abs_diff(found: Tensor, wanted: Tensor) -> float:
    values = _finite(found, wanted)
    if values is None:
        return float("nan")
    return float((values[0] - values[1]).abs().max()) if values[0].numel() else 0.0


def max_rel_diff(found: Tensor, wanted: Tensor) -> float:
    values = _finite(found, wanted)
    if values is None:
        return float("nan")
    have, want = values
    parts = (have - want).abs() / want.abs().clamp(min=torch.finfo(torch.float64).tiny)
    return float(parts.max()) if parts.numel() else 0.0
