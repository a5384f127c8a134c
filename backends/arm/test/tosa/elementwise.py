# SPDX-License-Identifier: BSD-3-Clause
"""TOSA's operators whose results are functions of elements at one place, RESCALE and TABLE among them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from executorch.backends.arm.test.tosa.arithmetic import (
    Array,
    apply_scale_16,
    apply_scale_32,
    bits_of,
    integer_range,
    of_type,
    require,
)

_erf = np.vectorize(math.erf, otypes=[np.float64])


def _rescale(call: Any) -> Array:
    at, values = call.attribute, call[0]
    kind, out_kind = call.types[0], call.out_type
    in_zero, out_zero = int(call[3].reshape(())), int(call[4].reshape(()))
    require(
        at.scale32 == (kind != "INT48"), "RESCALE of 48 bits has multipliers of 16, others of 32"
    )
    require(not (at.input_unsigned and at.output_unsigned), "RESCALE has no sign on both sides")
    require(kind in ("INT8", "INT16") or in_zero == 0, "an input of 32 or 48 bits has a zero point")
    require(out_kind in ("INT8", "INT16") or out_zero == 0, "an output of 32 bits has a zero point")
    if at.input_unsigned:
        mask = 2 ** bits_of(kind) - 1
        values, in_zero = values & mask, in_zero & mask
    low, high = integer_range(out_kind, at.output_unsigned)
    if at.output_unsigned:
        out_zero &= high
    multiplier, shift = call[1], call[2]
    require(
        len(multiplier) == (values.shape[-1] if at.per_channel else 1),
        "multipliers are not one per channel",
    )
    if not at.per_channel:
        multiplier, shift = multiplier[0], shift[0]
    double_round = at.rounding_mode.name == "DOUBLE_ROUND"
    require(
        at.rounding_mode.name in ("SINGLE_ROUND", "DOUBLE_ROUND"),
        "a rounding mode that is not exact",
    )
    if at.scale32:
        scaled = apply_scale_32(values - in_zero, multiplier, shift, double_round)
    else:
        require(not double_round, "48 bits are rounded once")
        scaled = apply_scale_16(values - in_zero, multiplier, shift)
    return of_type(np.clip(scaled + out_zero, low, high), out_kind)


def _table(call: Any) -> Array:
    values, table = call[0], call[1]
    if call.types[0] == "INT8":
        require(len(table) == 256, "a table of 8 bits has 256 entries")
        return table[values + 128]
    require(len(table) == 513, "a table of 16 bits has 513 entries")
    index, fraction = (values >> 7) + 256, values & 127
    base, slope = table[index], table[index + 1] - table[index]
    require(np.abs(slope) <= 32768, "neighbours of a table differ by more than 16 bits")
    return (base << 7) + slope * fraction


def _mul(call: Any) -> Array:
    left, right = call[0], call[1]
    shift = int(call[2].reshape(-1)[0]) if len(call.inputs) > 2 else 0
    if call.is_float or shift == 0:
        return left * right
    require(call.types[0] == "INT32" and shift <= 63, "only 32 bits have a shift")
    return (left * right + (1 << (shift - 1))) >> shift


def _clamp(call: Any) -> Array:
    stored = {"INT8": "<i1", "INT16": "<i2", "FP32": "<f4", "FP16": "<f2"}[call.types[0]]
    low, high = (
        np.frombuffer(bytes(each), stored)[0].astype(call[0].dtype)
        for each in (call.attribute.min_val, call.attribute.max_val)
    )
    require(low <= high, "the bounds of CLAMP are in order")
    return np.clip(call[0], low, high)


def _negate(call: Any) -> Array:
    in_zero, out_zero = (each.reshape(()) for each in call.inputs[1:3])
    negated = out_zero - (call[0] - in_zero)
    return (
        negated
        if call.is_float or call.types[0] == "INT32"
        else np.clip(negated, *integer_range(call.out_type))
    )


def _cast(call: Any) -> Array:
    values, kind = call[0], call.out_type
    if kind == "BOOL":
        return values != 0
    if kind.startswith("FP"):
        return values.astype(np.float64)
    if not call.is_float:
        return of_type(values.astype(np.int64), kind)
    low, high = integer_range(kind)
    return np.clip(
        np.rint(np.nan_to_num(values, nan=0.0, posinf=high, neginf=low)), low, high
    ).astype(np.int64)


def _intdiv(call: Any) -> Array:
    left, right = call[0], call[1]
    require(right != 0, "INTDIV by 0")
    quotient = np.abs(left) // np.abs(right)
    return np.where((left < 0) != (right < 0), -quotient, quotient)


def _right_shift(call: Any) -> Array:
    values, shift = np.broadcast_arrays(call[0], call[1])
    require((shift >= 0) & (shift < bits_of(call.out_type)), "a shift leaves the bits")
    half = (values >> np.maximum(shift - 1, 0)) & 1 & (shift > 0)
    return (values >> shift) + (half if call.attribute.round else 0)


def _logical_shift(left: bool) -> Callable[[Any], Array]:
    def shifted(call: Any) -> Array:
        values, shift = call[0], call[1]
        bits = bits_of(call.out_type)
        require((shift >= 0) & (shift < bits), "a shift leaves the bits")
        return of_type(
            values << shift if left else (values & (2**bits - 1)) >> shift, call.out_type
        )

    return shifted


def _clz(call: Any) -> Array:
    lengths = [int(each).bit_length() if each >= 0 else 32 for each in call[0].reshape(-1)]
    return 32 - np.array(lengths, np.int64).reshape(call[0].shape)


def _each(function: Callable[..., Array]) -> Callable[[Any], Array]:
    """Of all operands, which broadcast; floats beyond their range are infinite, as the specification has it."""

    def computed(call: Any) -> Array:
        with np.errstate(all="ignore"):
            return function(*call.inputs)

    return computed


OPERATORS: dict[str, Callable[[Any], Array]] = {
    "RESCALE": _rescale,
    "TABLE": _table,
    "MUL": _mul,
    "CLAMP": _clamp,
    "NEGATE": _negate,
    "CAST": _cast,
    "INTDIV": _intdiv,
    "ARITHMETIC_RIGHT_SHIFT": _right_shift,
    "LOGICAL_LEFT_SHIFT": _logical_shift(left=True),
    "LOGICAL_RIGHT_SHIFT": _logical_shift(left=False),
    "CLZ": _clz,
    "ADD": _each(np.add),
    "SUB": _each(np.subtract),
    "MAXIMUM": _each(np.maximum),
    "MINIMUM": _each(np.minimum),
    "ABS": _each(np.abs),
    "EQUAL": _each(np.equal),
    "GREATER": _each(np.greater),
    "GREATER_EQUAL": _each(np.greater_equal),
    "BITWISE_AND": _each(np.bitwise_and),
    "BITWISE_OR": _each(np.bitwise_or),
    "BITWISE_XOR": _each(np.bitwise_xor),
    "BITWISE_NOT": _each(np.bitwise_not),
    "LOGICAL_AND": _each(np.logical_and),
    "LOGICAL_OR": _each(np.logical_or),
    "LOGICAL_XOR": _each(np.logical_xor),
    "LOGICAL_NOT": _each(np.logical_not),
    "SELECT": _each(np.where),
    "POW": _each(np.power),
    "EXP": _each(np.exp),
    "LOG": _each(np.log),
    "SIN": _each(np.sin),
    "COS": _each(np.cos),
    "TANH": _each(np.tanh),
    "ERF": _each(_erf),
    "SIGMOID": _each(lambda x: 1 / (1 + np.exp(-x))),
    "RECIPROCAL": _each(lambda x: 1 / x),
    "RSQRT": _each(lambda x: 1 / np.sqrt(x)),
    "CEIL": _each(np.ceil),
    "FLOOR": _each(np.floor),
}
