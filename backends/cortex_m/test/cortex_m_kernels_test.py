# SPDX-License-Identifier: BSD-3-Clause
"""Kernels beside the formulas, bit for bit."""

from __future__ import annotations

import pytest
import torch

from executorch.backends.cortex_m.ops.fixed_point import requantize
from executorch.backends.cortex_m.ops.operators import LIBRARY
from executorch.backends.cortex_m.test.drawn import FAMILIES, Draw, program
from executorch.runtime import Runtime


@pytest.mark.req("ARM-037")
@pytest.mark.parametrize("name", FAMILIES)
def test_kernels_give_what_the_formulas_give(name: str) -> None:
    made, inputs, expected = program(FAMILIES[name](Draw()))
    found = Runtime.get().load_program(made.buffer).load_method("forward").execute(inputs)
    assert len(found) == len(expected)
    for case, (a, b) in enumerate(zip(found, expected, strict=True)):
        assert torch.equal(a, b), f"case {case}"


def test_every_operator_is_drawn() -> None:
    drawn = {str(case.op).split(".")[-1] for family in FAMILIES.values() for case in family(Draw())}
    assert drawn == set(LIBRARY.names())


def whole(value: int, multiplier: int, shift: int) -> int:
    """requantize() in Python's integers: half up behind the product, half away from zero behind the shift."""
    product = (value * 2 ** max(shift, 0) * multiplier + 2**30) >> 31
    bits = max(-shift, 0)
    away = abs(product) + (1 << bits >> 1) >> bits
    return away if product >= 0 else -away


@pytest.mark.parametrize("shift", [-31, -20, -1, 0, 1, 7])
def test_requantize_is_what_integers_say(shift: int) -> None:
    """Ties, too: products of 2^30 are halves."""
    values = [0, 1, -1, 2, -2, 3, -3, 127, -128, 65535, -65535, 2**23, -(2**23)]
    for multiplier in (1 << 30, (1 << 30) + 1, 2**31 - 1, 1717986918):
        found = requantize(torch.tensor(values), multiplier, shift).tolist()
        assert found == [whole(each, multiplier, shift) for each in values]
