# SPDX-License-Identifier: BSD-3-Clause
"""Scales as integers, runs of indices, windows of pools, dimensions that move together: beside what they stand for."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import pytest
import torch

from executorch.backends.arm.aot.data_movement import runs_of
from executorch.backends.arm.aot.fixed_point import multiplier_and_shift, multipliers_and_shifts
from executorch.backends.arm.aot.reduce import resize_numbers, windows
from executorch.backends.arm.aot.turns import LARGEST, fits, merged


@pytest.mark.parametrize("bits", [16, 32])
def test_a_multiplier_and_a_shift_are_the_scale(bits: int) -> None:
    """To `bits` - 1 digits, of which fewer are left below 2^-31: 2^62 is the largest divisor."""
    for exponent, part in itertools.product((-30, -9, -1, 0, 3, 10), (1.0, 1.1, 1.37, 1.9999)):
        scale = part * 2.0**exponent
        multiplier, shift = multiplier_and_shift(scale, bits)
        assert 2 ** (bits - 2) <= multiplier < 2 ** (bits - 1) and 2 <= shift <= 62
        assert multiplier * 2.0**-shift == pytest.approx(scale, rel=2.0 ** (2 - bits))
    for scale in (1.3 * 2.0**-40, 2.0**-55, 0.0):
        multiplier, shift = multiplier_and_shift(scale)
        assert shift <= 62 and abs(multiplier * 2.0**-shift - scale) <= 2.0**-62
    found = multipliers_and_shifts([0.5, 0.75], bits)
    assert [each.tolist() for each in found] == [
        [2 ** (bits - 2), 3 * 2 ** (bits - 3)],
        [bits - 1] * 2,
    ]


@pytest.mark.parametrize("scale", [-1.0, math.inf, math.nan])
def test_what_is_no_scale_is_refused(scale: float) -> None:
    with pytest.raises(ValueError, match="a finite scale, not below 0"):
        multiplier_and_shift(scale)


@pytest.mark.parametrize(("bits", "most"), [(32, 2.0**29), (16, 2.0**13)])
def test_scales_that_no_multiplier_is(bits: int, most: float) -> None:
    assert multiplier_and_shift(most * 0.999, bits)[1] == 2
    with pytest.raises(ValueError, match=rf"expected one below 2\^{int(math.log2(most))}"):
        multiplier_and_shift(most, bits)


def test_runs_of_an_index() -> None:
    for index in ([], [3], [0, 1, 2], [0, 2, 3, 1], [1, 1, 2], [4, 3]):
        runs = runs_of(index)
        assert [first + i for first, count in runs for i in range(count)] == index
        pairs = itertools.pairwise(runs)
        assert all(first + count != following for (first, count), (following, _) in pairs)


def test_windows_of_a_pool() -> None:
    """As adaptive_avg_pool1d of a row in which each place alone is 1."""
    for size, count in ((6, 3), (7, 3), (5, 5), (5, 8), (9, 1)):
        shares = torch.nn.functional.adaptive_avg_pool1d(torch.eye(size)[:, None], count)[:, 0].T
        for (first, end), row in zip(windows(size, count), shares, strict=True):
            assert row.nonzero().flatten().tolist() == list(range(first, end))


def test_numbers_of_a_resize() -> None:
    """Place p is read at (p * d + offset) / n, as PyTorch reads it; the last at size - 1 + border / n."""
    for size, want, aligned in itertools.product((1, 2, 3, 8), (1, 2, 5, 8, 9), (False, True)):
        n, d, offset, border = resize_numbers(size, want, aligned)
        assert n % 2 == d % 2 == 0 and n > 0
        corners = aligned and size > 1 and want > 1
        step = (size - 1) / (want - 1) if corners else size / want
        for place in (0, want - 1):
            expected = place * step if aligned else (place + 0.5) * step - 0.5
            assert (place * d + offset) / n == pytest.approx(expected)
        assert (size - 1) + border / n == pytest.approx(((want - 1) * d + offset) / n)


@pytest.mark.parametrize(
    ("sizes", "order", "expected"),
    [
        ([1, 1, 3, 3, 24, 24], (0, 1, 4, 2, 5, 3), ([3, 3, 24, 24], [2, 0, 3, 1])),
        ([2, 3, 4], (0, 1, 2), ([24], [0])),
        ([2, 1, 3, 4], (3, 0, 1, 2), ([6, 4], [1, 0])),
        ([2, 3, 4], (2, 1, 0), ([2, 3, 4], [2, 1, 0])),
        ([1, 1], (1, 0), ([], [])),
        ([LARGEST, 2], (0, 1), ([LARGEST, 2], [0, 1])),
        ([LARGEST // 2, 2], (0, 1), ([LARGEST], [0])),
    ],
)
def test_dimensions_that_stay_together_are_one(
    sizes: Sequence[int], order: Sequence[int], expected: tuple[list[int], list[int]]
) -> None:
    assert merged(sizes, order) == expected


def test_what_fits() -> None:
    assert fits([LARGEST, 1, 1, 1]) and not fits([LARGEST + 1]) and not fits([1] * 5)
