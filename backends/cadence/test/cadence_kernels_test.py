# SPDX-License-Identifier: BSD-3-Clause
"""Every kernel beside the operator's formula, on drawn cases: the same bits of whole numbers, and floats that differ by
what another order of sums does."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from executorch.backends.cadence.aot.ops_registrations import LIBRARY
from executorch.backends.cadence.test.drawn import arguments
from executorch.backends.test.conformance.kernel_checks import check_kernels
from executorch.test.e2e.build_tree import load_backend

NAMES = LIBRARY.names()


@pytest.fixture(autouse=True, scope="module")
def kernels() -> None:
    load_backend("cadence")


def operator_of(name: str) -> Any:
    packet, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.cadence, packet), overload or "default")


def check(seed: int) -> None:
    check_kernels([(operator_of(name), arguments(name, seed)) for name in NAMES], 2e-5)


@pytest.mark.req("NPU-050", "NPU-053")
def test_each_kernel_gives_what_its_formula_does() -> None:
    check(0)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1, 31))
def test_drawn_cases(seed: int) -> None:
    check(seed)


def test_drawn_cases_saturate() -> None:
    """Of most operators of 8 bits some case has the least or the largest value, and some has others."""
    names = [each for each in NAMES if "8s" in each and not each.startswith("dequantize")]
    for name in names:
        results = torch.cat([operator_of(name)(*arguments(name, s)).flatten() for s in range(20)])
        ends = (results == -128) | (results == 127)
        assert bool(ends.any()) and not bool(ends.all()), name
