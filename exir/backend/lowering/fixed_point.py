# SPDX-License-Identifier: BSD-3-Clause
"""Scales as whole numbers, for what computes on stored values alone."""

from __future__ import annotations

import math


def quantize_multiplier(scale: float, bits: int = 31) -> tuple[int, int]:
    """(multiplier, shift) with scale = multiplier * 2^(shift - bits), as near as `bits` bits get: the multiplier is 0,
    or at least 2^(bits - 1) and below 2^bits. Ties to even."""
    mantissa, shift = math.frexp(scale)
    multiplier = round(mantissa * 2**bits)
    if multiplier == 2**bits:
        return multiplier // 2, shift + 1
    return multiplier, shift
