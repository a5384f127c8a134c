# SPDX-License-Identifier: BSD-3-Clause
"""Integer rows, their TOSA graphs evaluated, beside float64: each within half a quantum of what is exact, and what it
says that it loses besides."""

from __future__ import annotations

import pytest
import torch

from executorch.backends.arm.test.arm_operators_test import is_fully_delegated
from executorch.backends.arm.test.arm_quantized_rows import FAMILIES
from executorch.backends.arm.test.arm_reference import lowered, through_reference_all

SPEC = "TOSA-1.0+INT+int16"
OTHER_SPECS = {"turns": "TOSA-1.0+INT+int16+u55"}


@pytest.mark.req("ARM-008")
@pytest.mark.parametrize("family", FAMILIES)
def test_rows_round_once(family: str) -> None:
    torch.manual_seed(0)
    rows, spec = list(FAMILIES[family]()), OTHER_SPECS.get(family, SPEC)
    programs = [(lowered(each.call, each.inputs, spec), each.inputs) for each in rows]
    outside = [
        each.name
        for each, (edge, _) in zip(rows, programs, strict=True)
        if not is_fully_delegated(edge)
    ]
    assert outside == []
    found = through_reference_all(programs)
    wrong = [each.why_wrong(results[0]) for each, results in zip(rows, found, strict=True)]
    assert [each for each in wrong if each] == []
