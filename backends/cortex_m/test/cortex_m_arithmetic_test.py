# SPDX-License-Identifier: BSD-3-Clause
"""Each function of ops/fixed_point.py beside Python's integers and the real function that it stands for."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import torch

from executorch.backends.cortex_m.ops import fixed_point as of

LEAST, LARGEST = -(2**31), 2**31 - 1
VALUES = [
    0,
    1,
    -1,
    2,
    -3,
    5,
    -7,
    2**20,
    -(2**20),
    2**29,
    -(2**29),
    2**30,
    -(2**30),
    LEAST + 1,
    LEAST,
    LARGEST,
]


def away(value: Fraction) -> int:
    """To the nearest whole number, halves away from zero."""
    whole = math.floor(abs(value) + Fraction(1, 2))
    return whole if value >= 0 else -whole


def test_registers_wrap_around() -> None:
    given = [LARGEST + 1, LEAST - 1, 2**32, 2**32 + 5, *VALUES]
    expected = [LEAST, LARGEST, 0, 5, *VALUES]
    assert of.wrap32(torch.tensor(given)).tolist() == expected


@pytest.mark.parametrize("bits", [0, 1, 2, 5, 12, 31])
def test_division_by_a_power_of_two(bits: int) -> None:
    given = [*range(-40, 41), *VALUES]
    found = of.divide_by_power_of_two(torch.tensor(given), bits).tolist()
    assert found == [away(Fraction(each, 2**bits)) for each in given]


@pytest.mark.parametrize("other", [1, -1, 3, 2**29, 2**30, -(2**30), LARGEST, LEAST])
def test_high_product(other: int) -> None:
    """Of the least by itself what is largest; else the nearest, negative halves up as the kernels have them."""
    found = of.high_product(torch.tensor(VALUES), other).tolist()
    for value, made in zip(VALUES, found, strict=True):
        exact = Fraction(value * other, 2**31)
        nearest = math.floor(exact + Fraction(1, 2))
        assert made == (LARGEST if value == other == LEAST else nearest)


@pytest.mark.parametrize("bits", [1, 2])
def test_shifts_saturate(bits: int) -> None:
    edge = 2 ** (31 - bits)
    given = [0, 3, -3, edge - 1, edge, -edge, -edge - 1, -edge + 1, LARGEST, LEAST]
    expected = [min(max(each * 2**bits, LEAST), LARGEST) for each in given]
    found = of._saturating_shift(torch.tensor(given), bits).tolist()
    # the largest that fits is as good as saturated
    apart = [abs(a - b) for a, b in zip(found, expected, strict=True)]
    assert max(apart) < 2**bits and apart[:3] == [0, 0, 0]


def test_powers() -> None:
    """31 bits of e^x, from 26 bits behind the point: a series of degree 4 around -1/8 lacks (1/8)^5 / 5!."""
    x = -torch.cat([torch.arange(0, 2**26, 99991), torch.arange(0, 31 * 2**26, 2**20 + 7)])
    exact = torch.exp(x.double() / 2**26) * 2**31
    assert (of._exp(x).double() - exact).abs().max() < 2**31 * (1 / 8) ** 5 / 120
    assert of._exp(torch.tensor([0])).tolist() == [LARGEST]


def test_reciprocals() -> None:
    x = torch.arange(0, 2**31, 2**31 // 997)
    exact = 2**31 / (1 + x.double() / 2**31)
    assert (of._reciprocal(x).double() - exact).abs().max() < 2**31 * 4e-9


@pytest.mark.parametrize("scale", [1e-3, 0.02, 0.25, 1.0, 31.0, 40.0])
def test_parameters_of_softmax(scale: float) -> None:
    """A difference counts while it is below 32, of which 5 bits stand before the point."""
    multiplier, shift, least = of.softmax_parameters(scale)
    found = multiplier / 2**31 * 2.0**shift
    assert found == pytest.approx(min(scale * 2**26, 2**31 - 1), rel=1e-9)
    assert 2**30 <= multiplier < 2**31
    assert least == -math.floor(31 * 2**26 / 2**shift)


@pytest.mark.parametrize("scale", [0.01, 0.04, 0.3, 2.0])
@pytest.mark.parametrize("count", [1, 2, 40, 3000])
def test_softmax(scale: float, count: int) -> None:
    torch.manual_seed(count)
    x = torch.randint(-128, 128, (7, count))
    exact = torch.softmax(x.double() * scale, -1) * 256 - 128
    found = of.softmax(x, *of.softmax_parameters(scale)).double()
    assert (found - exact.clamp(-128, 127)).abs().max() < 0.51
