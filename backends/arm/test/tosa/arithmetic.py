# SPDX-License-Identifier: BSD-3-Clause
"""Integer arithmetic as the TOSA specification writes it down: apply_scale_32 and _16, reciprocal_scale, ranges."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_BITS = {"INT4": 4, "INT8": 8, "INT16": 16, "INT32": 32, "INT48": 48, "SHAPE": 64}


class Unpredictable(Exception):
    """A graph does what the specification requires that no graph does."""


def require(holds: Any, text: str) -> None:
    if not np.all(holds):
        raise Unpredictable(text)


def integer_range(kind: str, unsigned: bool = False) -> tuple[int, int]:
    bits = _BITS[kind]
    return (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def wrap(values: Array, bits: int) -> Array:
    """The low bits as a number with a sign."""
    half = 1 << (bits - 1)
    return ((values + half) & ((1 << bits) - 1)) - half


def of_type(values: Array, kind: str) -> Array:
    return wrap(values, _BITS[kind])


def bits_of(kind: str) -> int:
    return _BITS[kind]


def apply_scale_32(
    value: Array, multiplier: Array, shift: Array, double_round: bool = False
) -> Array:
    """value * multiplier / 2^shift, rounded half up; twice (first to 2^-31, half away from 0) if double_round."""
    require(multiplier >= 0, "a multiplier is negative")
    require((shift >= 2) & (shift <= 62), "a shift is not in 2 .. 62")
    require(np.abs(value) <= 2**31, "a value of RESCALE leaves 32 bits")
    one = np.int64(1)
    limit = one << np.minimum(shift - 1, 40)
    require((value >= -limit) & (value < limit), "a value of RESCALE leaves the range of its shift")
    half = one << (shift - 1)
    if double_round:
        half = half + np.where(shift > 31, np.where(value >= 0, one << 30, -(one << 30)), 0)
    result = (value * multiplier + half) >> shift
    low, high = integer_range("INT32")
    require((result >= low) & (result <= high), "a scaled value leaves 32 bits")
    return result


def apply_scale_16(value: Array, multiplier: Array, shift: Array) -> Array:
    """The same for values of 48 bits and multipliers of 16."""
    require((multiplier >= 0) & (multiplier < 2**15), "a multiplier leaves 15 bits")
    require((shift >= 2) & (shift <= 62), "a shift is not in 2 .. 62")
    require(np.abs(value) <= 2**47, "a value of RESCALE leaves 48 bits")
    result = (value * multiplier + (np.int64(1) << (shift - 1))) >> shift
    low, high = integer_range("INT32")
    require((result >= low) & (result <= high), "a scaled value leaves 32 bits")
    return result


def reciprocal_scale(value: int) -> tuple[int, int]:
    """Multiplier and shift for a division by a count: ((1 << 30) + 1) << k over it, k the bits of it less one."""
    k = (value - 1).bit_length()
    return (((1 << 30) + 1) << k) // value, 30 + k
