# SPDX-License-Identifier: BSD-3-Clause
"""The arithmetic of TOSA's text, beside arithmetic that is shown."""

from __future__ import annotations

import numpy as np
import pytest

from executorch.backends.arm.test.tosa.arithmetic import (
    Unpredictable,
    apply_scale_16,
    apply_scale_32,
    reciprocal_scale,
)
from executorch.backends.arm.test.tosa.evaluator import stored_values


def scaled(*values: int, multiplier: int, shift: int, double_round: bool = False) -> list[int]:
    return apply_scale_32(
        np.array(values), np.array(multiplier), np.array(shift), double_round
    ).tolist()


def test_a_scale_rounds_half_up() -> None:
    """3/4 of 2, 6, -2, -6 and 3: 1.5, 4.5, -1.5, -4.5, 2.25."""
    found = scaled(2, 6, -2, -6, 3, multiplier=3 << 28, shift=30)
    assert found == [2, 5, -1, -4, 2]
    wide = apply_scale_16(np.array([2, -2, 1 << 40]), np.array(3 << 12), np.array(14 + 30))
    assert wide.tolist() == [0, 0, 768]


def test_double_round_is_another_function() -> None:
    """2^30 / 2^32 of 1 and -3: 0.25 and -0.75; with 2^30 added beside 2^31, or taken away: 0.5 up, -1 down."""
    both = [
        scaled(1, -3, 2, -2, multiplier=1 << 30, shift=32, double_round=each)
        for each in (False, True)
    ]
    assert both == [[0, -1, 1, 0], [1, -1, 1, -1]]


def test_what_is_unpredictable_is_an_error() -> None:
    for value, multiplier, shift in ((1, 1, 1), (1, 1, 63), (1, -1, 30), (1 << 20, 1 << 30, 20)):
        with pytest.raises(Unpredictable):
            scaled(value, multiplier=multiplier, shift=shift)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6, 9, 49, 4096])
def test_averages_divide(count: int) -> None:
    """Ties away from 0, as the multiplier is a little more than 1 / count."""
    multiplier, shift = reciprocal_scale(count)
    sums = np.arange(-128, 128) * count + count // 2
    found = apply_scale_32(sums, np.array(multiplier), np.array(shift))
    expected = np.sign(sums) * np.floor(np.abs(sums) / count + 0.5)
    assert found.tolist() == expected.astype(int).tolist()


def test_constants_of_4_and_48_bits() -> None:
    assert stored_values(b"\xf1\x08\0\0", "INT4", (3,)).tolist() == [1, -1, -8]
    assert stored_values(b"\xfe" + b"\xff" * 5 + b"\1" + b"\0" * 5, "INT48", (2,)).tolist() == [
        -2,
        1,
    ]
