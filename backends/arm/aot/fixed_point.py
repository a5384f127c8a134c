# SPDX-License-Identifier: BSD-3-Clause
"""Scales as integers: multiplier * 2^-shift, as RESCALE takes them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from executorch.exir.backend.lowering.fixed_point import quantize_multiplier

_LEAST_SHIFT, _LARGEST_SHIFT = 2, 62


def multiplier_and_shift(scale: float, bits: int = 32) -> tuple[int, int]:
    """`bits`: 32, or 16 for values of 48 bits. ValueError for what no multiplier of so many bits is."""
    if not (math.isfinite(scale) and scale >= 0):
        raise ValueError(f"expected a finite scale, not below 0, found {scale}")
    width = bits - 1
    multiplier, left = quantize_multiplier(scale, width)
    shift = width - left
    if shift > _LARGEST_SHIFT:
        multiplier >>= min(31, shift - _LARGEST_SHIFT)
        shift = _LARGEST_SHIFT
    if shift < _LEAST_SHIFT:
        raise ValueError(
            f"a scale of {scale} is too large: expected one below 2^{width - _LEAST_SHIFT}"
        )
    return multiplier, shift


def multipliers_and_shifts(
    scales: Sequence[float], bits: int = 32
) -> tuple[np.ndarray, np.ndarray]:
    pairs = [multiplier_and_shift(float(each), bits) for each in scales]
    multipliers, shifts = zip(*pairs, strict=True)
    return np.array(multipliers), np.array(shifts)
