# SPDX-License-Identifier: BSD-3-Clause
"""Programs written by earlier compilers keep loading and keep their numbers (runtime/COMPATIBILITY.md)."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from executorch.test.e2e.programs import RUNTIMES, assert_same

HERE = Path(__file__).parent
# File; inputs of successive calls; what they give, by the arithmetic that README.md states.
ROWS = [
    # x * x + 2 x
    ("no_extended_header", [[1.0, 2.0, -3.0]], [[3.0, 8.0, 3.0]]),
    # (1 * 10 + 2 * 1 + 0.5, 3 * 10 + 4 * 1 - 0.5)
    ("linear_1_4_1", [[[10.0, 1.0]]], [[[12.5, 33.5]]]),
    # max((1 * 10 + 2 * 1 + 0.5, 3 * 10 + 4 * 1 - 0.5), 0) + (10, 1)
    ("upstream_1_0_0", [[[10.0, 1.0]], [[-1.0, -1.0]]], [[[22.5, 34.5]], [[-1.0, -1.0]]]),
    # {10, 20} + {1, 2}, then + {5, -5}
    ("running_total_1_4_1", [[1.0, 2.0], [5.0, -5.0]], [[11.0, 22.0], [16.0, 17.0]]),
]


@pytest.mark.req("RT-005")
@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("name, inputs, outputs", ROWS, ids=[row[0] for row in ROWS])
def test_a_golden_program_gives_its_numbers(
    name: str, inputs: list, outputs: list, runtime: str
) -> None:
    calls = [("forward", [torch.tensor(values)]) for values in inputs]
    actual = RUNTIMES[runtime](HERE / f"{name}.pte", calls)
    assert_same(actual, [[torch.tensor(values)] for values in outputs], rtol=0, atol=0)


@pytest.mark.req("RT-005")
def test_the_policy_is_written_down() -> None:
    policy = Path(__file__).resolve().parents[2] / "runtime" / "COMPATIBILITY.md"
    assert "an earlier 1.x | a later 1.x | yes" in policy.read_text()
