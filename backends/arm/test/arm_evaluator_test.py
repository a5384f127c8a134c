# SPDX-License-Identifier: BSD-3-Clause
"""The evaluator of TOSA graphs beside the TOSA reference model: integers bit for bit."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from executorch.backends.arm.quantizer import get_symmetric_a16w8_quantization_config
from executorch.backends.arm.test import arm_cases, arm_quantized_rows
from executorch.backends.arm.test.arm_quantized_test import OTHER_SPECS, SPEC
from executorch.backends.arm.test.arm_reference import (
    Program,
    lowered,
    needs_model,
    quantized,
    run_all,
    run_all_in_model,
    through_reference_all,
)

pytestmark = [needs_model, pytest.mark.req("ARM-008")]


def _cases(spec: str, family: str) -> Iterator[Program]:
    config = get_symmetric_a16w8_quantization_config() if "int16" in spec else None
    for _, module, inputs in arm_cases.FAMILIES[family]():
        module.eval()
        model = module if "FP" in spec else quantized(module, inputs, spec, config)
        yield lowered(model, inputs, spec), inputs


def _stored(family: str) -> Iterator[Program]:
    for row in arm_quantized_rows.FAMILIES[family]():
        yield lowered(row.call, row.inputs, OTHER_SPECS.get(family, SPEC)), row.inputs


def check(programs: list[Program]) -> None:
    """Of each graph the same integers; floats of single precision, whose sums are in another order, nearly so."""
    counted = []

    def both(graphs: list) -> list[list[torch.Tensor]]:
        found, expected = run_all(graphs), run_all_in_model(graphs)
        # Circular padding begins with memory that nobody wrote, where NaN stays NaN.
        torch.testing.assert_close(found, expected, rtol=2e-6, atol=2e-6, equal_nan=True)
        counted.extend(graphs)
        return found

    torch.manual_seed(0)
    through_reference_all(programs, both)
    assert counted


@pytest.mark.parametrize("family", arm_quantized_rows.FAMILIES)
def test_stored_rows_are_equal_in_the_reference_model(family: str) -> None:
    check(list(_stored(family)))


@pytest.mark.parametrize("family", arm_cases.FAMILIES)
def test_floats_are_equal_in_the_reference_model(family: str) -> None:
    check(list(_cases("TOSA-1.0+FP", family)))


@pytest.mark.full
@pytest.mark.parametrize("spec", ["TOSA-1.0+INT", "TOSA-1.0+INT+int16"])
@pytest.mark.parametrize("family", arm_cases.FAMILIES)
def test_rows_are_equal_in_the_reference_model(spec: str, family: str) -> None:
    check(list(_cases(spec, family)))
