# SPDX-License-Identifier: BSD-3-Clause
"""Operators that give an element from the elements at its place."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from tools.bench.ops.case import SIZES, Case, line

_OF_ONE = (
    "abs acosh asinh atan ceil cos cosh erf erfc exp expm1 floor isinf isnan log log10 log1p log2 logical_not neg "
    "reciprocal relu round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc gelu elu"
).split()
_OF_ONE_WITHIN_1 = "acos asin atanh logit".split()
_OF_TWO = "add sub mul div maximum minimum atan2 floor_divide".split()
_WITH_NUMBER = "add sub mul div fmod remainder rsub".split()
_COMPARISONS = "eq ne lt le gt ge".split()
_BITS = "bitwise_and bitwise_or bitwise_xor".split()
_SHIFTS = "bitwise_left_shift bitwise_right_shift".split()
_EXPONENTS = (2, 3, 0.5, -0.5, 2.5)


def _of_one(x: torch.Tensor, label: str) -> Iterator[Case]:
    for name in _OF_ONE:
        yield Case(f"{name}.out", label, (x,))
    for name in _OF_ONE_WITHIN_1:
        yield Case(f"{name}.out", label, (x * 0.8,))
    yield Case("gelu.out", f"{label} tanh", (x,), {"approximate": "tanh"})
    yield Case("hardtanh.out", label, (x, 0.0, 6.0))
    yield Case("clamp.out", label, (x, 0.0, None))
    yield Case("leaky_relu.out", label, (x, 0.1))
    yield Case("_conj_physical.out", label, (torch.complex(x, x),))
    yield Case("pow.Scalar_out", label, (1.5, x))
    for exponent in _EXPONENTS:
        yield Case("pow.Tensor_Scalar_out", f"{label} {exponent}", (x, exponent))
    for name in _WITH_NUMBER:
        yield Case(f"{name}.Scalar_out", label, (x, 1.5))
    yield Case("div.Scalar_mode_out", label, (x, 1.5), {"rounding_mode": "floor"})
    yield Case("masked_fill.Scalar_out", label, (x, x > 0.5, 0.0))
    yield Case("native_dropout.out", label, (x, 0.5, True), random=True)


def _of_two(x: torch.Tensor, y: torch.Tensor, label: str) -> Iterator[Case]:
    for name in _OF_TWO:
        yield Case(f"{name}.out", label, (x, y))
    for name in ("fmod", "remainder"):
        yield Case(f"{name}.Tensor_out", label, (x, y))
    yield Case("div.out_mode", label, (x, y), {"rounding_mode": "trunc"})
    yield Case("pow.Tensor_Tensor_out", label, (x, y))
    for name in _COMPARISONS:
        yield Case(f"{name}.Tensor_out", label, (x, y))
        yield Case(f"{name}.Scalar_out", label, (x, 0.5))
    for name in ("logical_and", "logical_or", "logical_xor"):
        yield Case(f"{name}.out", label, (x > 0.5, y > 0.5))
    yield Case("where.self_out", label, (x > 0.5, x, y))
    yield Case("clamp.Tensor_out", label, (x, y, None))
    half = x.half()
    for name in ("add", "mul"):
        yield Case(f"{name}.out", f"{label} float16", (half, half))
        yield Case(f"{name}.out", f"{label} bfloat16", (x.bfloat16(), x.bfloat16()))


def _integers(n: int) -> Iterator[Case]:
    i, label = torch.randint(0, 100, (n,)), f"{n} int64"
    shift = torch.randint(0, 8, (n,))
    yield Case("add.out", label, (i, i))
    yield Case("eq.Scalar_out", label, (i, 5))
    yield Case("bitwise_not.out", label, (i,))
    for name in _BITS:
        yield Case(f"{name}.Tensor_out", label, (i, shift))
        yield Case(f"{name}.Scalar_out", label, (i, 6))
    for name in _SHIFTS:
        yield Case(f"{name}.Tensor_out", label, (i, shift))
        yield Case(f"{name}.Tensor_Scalar_out", label, (i, 3))


def _broadcast() -> Iterator[Case]:
    a = torch.randn(1, 12, 128, 128)
    channels = (torch.randn(1, 64, 56, 56), torch.randn(1, 64, 1, 1))
    yield Case("add.out", "broadcast mask", (a, torch.randn(1, 1, 1, 128)))
    yield Case("mul.out", "broadcast channels", channels)
    yield Case("sub.out", "broadcast last", (torch.randn(512, 256), torch.randn(512, 1)))
    yield Case("where.self_out", "broadcast", (a > 0, a, torch.tensor(0.0)))


def cases() -> Iterator[Case]:
    for n in SIZES:
        yield from _of_one(line(n), f"{n}")
        yield from _of_two(line(n), line(n), f"{n}")
        yield from _integers(n)
    yield from _broadcast()
