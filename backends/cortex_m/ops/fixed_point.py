# SPDX-License-Identifier: BSD-3-Clause
"""Numbers as the kernels have them: int32 with multiplier and shift, softmax by integers.

All arithmetic is on int64 tensors that hold values of int32, so that it is exact and can be traced."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from executorch.exir.backend.lowering.fixed_point import quantize_multiplier

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
SHIFT_INT8 = 20  # bits by which the operands of a sum are shifted left


def wrap32(x: Tensor) -> Tensor:
    """As a register of 32 bits keeps it."""
    return ((x + 2**31) & 0xFFFFFFFF) - 2**31


def _int64(x: Tensor | int, like: Tensor) -> Tensor:
    is_tensor = isinstance(x, Tensor)
    return x.long() if is_tensor else torch.tensor(x, dtype=torch.int64, device=like.device)


def requantize(x: Tensor, multiplier: Tensor | int, shift: Tensor | int) -> Tensor:
    """x * multiplier * 2^(shift - 31), rounded twice: up at half behind the product, away from zero behind the right
    shift. A left shift keeps 32 bits."""
    multiplier, shift = _int64(multiplier, x), _int64(shift, x)
    shifted = wrap32(x.long() << shift.clamp(min=0))
    return divide_by_power_of_two((shifted * multiplier + 2**30) >> 31, (-shift).clamp(min=0))


def divide_by_power_of_two(x: Tensor, bits: Tensor | int) -> Tensor:
    """x / 2^bits, ties away from zero."""
    bits = _int64(bits, x).clamp(max=62)
    mask = (torch.ones_like(bits) << bits) - 1
    quotient = x >> bits
    threshold = (mask >> 1) + (quotient < 0).long()
    return quotient + ((x & mask) > threshold).long()


def high_product(a: Tensor, b: Tensor | int) -> Tensor:
    """a * b / 2^31, ties away from zero, saturating: the doubling high multiply."""
    a, b = torch.broadcast_tensors(a, _int64(b, a))
    nudge = torch.where((a < 0) == (b < 0), 2**30, 1 - 2**30)
    product = torch.div(a * b + nudge, 2**31, rounding_mode="trunc")
    return torch.where((a == INT32_MIN) & (b == INT32_MIN), INT32_MAX, product)


# ---- Softmax ----

# exp(-2^(k - 26)) of 31 bits, for bit k of a number with 26 bits behind the point.
_EXP_OF_BITS = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
_FIRST_BIT = 24


def _exp(x: Tensor) -> Tensor:
    """e^x for x <= 0 with 26 bits behind the point; the result has 31."""
    part = (x & (2**_FIRST_BIT - 1)) - 2**_FIRST_BIT
    rest = part - x
    y = (part << 5) + 2**28
    square = high_product(y, y)
    cube, fourth = high_product(square, y), high_product(square, square)
    series = high_product(divide_by_power_of_two(fourth, 2) + cube, 715827883) + square
    term = y + divide_by_power_of_two(series, 1)
    result = 1895147668 + high_product(term, 1895147668)
    for place, factor in enumerate(_EXP_OF_BITS):
        has_bit = (rest >> (_FIRST_BIT + place)) & 1
        result = torch.where(has_bit == 1, high_product(result, factor), result)
    return torch.where(x == 0, INT32_MAX, result)


def _saturating_shift(x: Tensor, bits: int) -> Tensor:
    limit = 2 ** (31 - bits) - 1
    shifted = torch.where(x > limit, INT32_MAX, x << bits)
    return torch.where(x < -limit, INT32_MIN, shifted)


def _reciprocal(x: Tensor) -> Tensor:
    """1 / (1 + x) for x from 0 to 1 with 31 bits."""
    total = x + INT32_MAX
    half = wrap32(torch.div(total + torch.where(total < 0, -1, 1), 2, rounding_mode="trunc"))
    y = 1515870810 + high_product(half, -1010580540)
    for _ in range(3):
        y = wrap32(y + _saturating_shift(high_product(y, 2**29 - high_product(half, y)), 2))
    return _saturating_shift(y, 1)


def softmax(x: Tensor, multiplier: int, shift: int, least: int) -> Tensor:
    """Over the last dimension, in steps of 1/256 from -128. `least`: differences to the largest value below it give
    -128."""
    apart = x.long() - x.long().amax(-1, keepdim=True)
    counts = apart >= least
    shifted = wrap32(torch.where(counts, apart, 0) << max(shift, 0))
    exps = torch.where(counts, _exp(high_product(shifted, multiplier)), 0)
    sums = divide_by_power_of_two(exps, 12).sum(-1, keepdim=True).clamp(max=INT32_MAX)
    zeros = 32 - torch.frexp(sums.double()).exponent.long()  # in front of the first bit of 32
    inverse = _reciprocal((sums << zeros) - 2**31)
    found = divide_by_power_of_two(high_product(exps, inverse), 12 - zeros + 23) - 128
    return torch.where(counts, found.clamp(-128, 127), -128).to(torch.int8)


def softmax_parameters(scale: float) -> tuple[int, int, int]:
    """Multiplier, shift and `least` of softmax() for an input of that scale: 26 bits behind the point, 5 before."""
    multiplier, shift = quantize_multiplier(min(scale * 2**26, 2.0**31 - 1))
    return multiplier, shift, -math.floor(31 * 2.0**26 / 2.0**shift)
