# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of one drawn network on one flow: exported, written to a file, run by a process of its own."""

from __future__ import annotations

import subprocess
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from executorch.backends.test.corpus.drawn import LARGE, drawn
from executorch.backends.test.corpus.row import Row
from executorch.backends.test.suite.attempt import Failed, begin_case
from executorch.backends.test.suite.flow import TestFlow
from executorch.backends.test.suite.reporting import TestResult
from executorch.backends.test.suite.rows import compare, make_row, problem_of
from executorch.test.e2e.cpp_calls import POISON, CallFailed, call_in_cpp

# The inputs of a network; it runs once more with the first. What rounding to 8 bits costs differs threefold from
# input to input, there and in the exported program, so that sums over many are compared. Others are moved, which a mean
# undoes, and have noise.
INPUTS, QUANTIZED_INPUTS = 2, 16
CRASHED, WRONG, FAILED, REFUSED, RIGHT = "crashed", "wrong", "failed", "refused", "right"
BAD = (CRASHED, WRONG, FAILED)


@dataclass(frozen=True)
class Machine:
    """Where programs run: `emulator` is a command with its arguments, `program` a module_calls built for it."""

    emulator: tuple[str, ...] = ()
    program: Path | None = None


@dataclass(frozen=True)
class Outcome:
    kind: str
    name: str
    text: str = ""


def outcome_of(seed: int, flow: TestFlow, machine: Machine, folder: Path) -> Outcome:
    """Of network `seed`, whose program is `folder`/SEED-FLOW.pte behind it."""
    row = _with_calls(drawn(seed, LARGE), QUANTIZED_INPUTS if flow.quantize else INPUTS)
    summary = begin_case(flow, row.name, row.name)
    path = folder / f"{seed}-{flow.name}.pte"
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            tester = make_row(summary, row, flow)
            if flow.supports_serialize:
                path.write_bytes(tester.get_artifact())
                calls = [("forward", inputs) for inputs in row.calls]
                found = iter(_run(path, calls, machine))
                compare(row, flow, tester, lambda inputs: next(found))
        return Outcome(RIGHT, row.name)
    except CallFailed as error:
        return Outcome(CRASHED if error.is_crash else FAILED, row.name, str(error))
    except subprocess.TimeoutExpired as error:
        return Outcome(FAILED, row.name, f"still running after {error.timeout:g} s")
    except Failed as failed:
        failed.note(summary)
        if failed.result is TestResult.OUTPUT_MISMATCH_FAIL:
            return Outcome(WRONG, row.name, str(failed.error))
        return Outcome(FAILED if problem_of(row, summary) else REFUSED, row.name, str(failed.error))


def _run(path: Path, calls: list, machine: Machine) -> list:
    return call_in_cpp(path, calls, (), machine.emulator, machine.program, **POISON)


def _with_calls(row: Row, count: int) -> Row:
    """With `count` inputs, rolled, and the first again; a tolerance of as many times as float32 itself is off."""
    (x,) = row.inputs
    others = [_other(x, place) for place in range(1, count)]
    module, exact = row.module(), row.module().double()
    with torch.no_grad():
        off = max(
            float((module(each) - exact(each.double())).abs().max()) for each in (x, others[0])
        )
    more = tuple((each,) for each in (*others, x))
    return replace(row, more=more, tolerance=row.tolerance + 20 * off)


def _other(x: torch.Tensor, place: int) -> torch.Tensor:
    moved = x.flatten().roll(place).reshape(x.shape)
    if not x.is_floating_point():
        return moved
    noise = torch.randn(x.shape, generator=torch.Generator().manual_seed(place))
    return moved + 0.1 * noise.to(x.dtype)
