# SPDX-License-Identifier: BSD-3-Clause
"""Small programs, one for each thing a program can do: branches, methods, state, lists, dynamic sizes."""

import pytest
import torch

from executorch.examples.models import SMALL
from executorch.test.e2e.conftest import LowerByName
from executorch.test.e2e.programs import RUNTIMES, assert_same, run_in_python


@pytest.mark.req("CMP-041", "CMP-055", "PY-018")
@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("name", SMALL)
def test_program_equals_eager(name: str, runtime: str, lowered: LowerByName) -> None:
    program = lowered(name)
    assert_same(RUNTIMES[runtime](program.path, program.calls), program.expected)


@pytest.mark.req("RT-025", "CMP-054")
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_cond_takes_both_branches(runtime: str, lowered: LowerByName) -> None:
    program = lowered("cond")
    assert_same(RUNTIMES[runtime](program.path, program.calls), program.expected)
    sums = [inputs[0].sum().item() for _, inputs in program.calls]
    assert max(sums) > 0 > min(sums)


@pytest.mark.req("CMP-053")
def test_a_fresh_method_starts_from_the_initial_state(lowered: LowerByName) -> None:
    program = lowered("running_total")
    first_call, first_outputs = program.calls[:1], program.expected[:1]
    for _ in range(2):
        assert_same(run_in_python(program.path, first_call), first_outputs)
    (total, calls) = first_outputs[0]
    assert torch.equal(total, first_call[0][1][0] + 5.0) and calls.item() == 1
