# SPDX-License-Identifier: BSD-3-Clause
"""doctor's findings about numbers: operators that overflow, whether the outputs are wrong for it, and ranges that do
not fit the values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch.export import ExportedProgram

from executorch.devtools.commands import given
from executorch.devtools.commands.bisect import by_handles
from executorch.devtools.commands.numbers.overflow import (
    NEXT_STEP,
    OF_TYPES,
    Broken,
    broken_values,
    has_infinite,
    leaves_exact,
)
from executorch.devtools.commands.numbers.ranges import Cut, cuts
from executorch.devtools.commands.origins import origin_of
from executorch.devtools.commands.output.finding import NUMBERS, STOPS, Finding
from executorch.devtools.commands.probe import found_values
from executorch.devtools.commands.program_file import ProgramFile
from executorch.devtools.commands.reference import COARSE
from executorch.devtools.devices.job import Device, Job
from executorch.exir import schema
from executorch.exir.program._etrecord import ETRecord
from executorch.exir.scalar_type import ScalarType

_HALVES = (ScalarType.HALF, ScalarType.BFLOAT16)


def number_findings(
    file: ProgramFile, job: Job, record: ETRecord, inputs: tuple[Any, ...], device: Device
) -> list[Finding]:
    """Of a job that runs on the device; `inputs`: the same as the model takes them. All values are recorded where some
    are in half precision, or where an output is infinite or NaN."""
    program = record.edge_dialect_program
    if not isinstance(program, ExportedProgram):
        return []
    return [
        *map(_of_cut, cuts(program, inputs)),
        *_of_values(file, job, record, inputs, device),
    ]


def _of_cut(each: Cut) -> Finding:
    line = (str(origin_of(each.source)),)
    return Finding(NUMBERS, f"{each.node.name}: {each.kind}", each.why, each.next_step, 1, 0, line)


def _of_values(
    file: ProgramFile, job: Job, record: ETRecord, inputs: tuple[Any, ...], device: Device
) -> list[Finding]:
    program = record.edge_dialect_program
    assert isinstance(program, ExportedProgram)
    outputs = device.run(replace(job, inputs=given.copies(job.inputs))).outputs
    if not (_has_halves(file.plan(job.method)) or has_infinite(outputs)):
        return []
    try:
        found = found_values(job, device)
    except RuntimeError:
        return []
    broken = broken_values(program, inputs, by_handles(record, found))
    if not broken:
        return []
    is_wrong = leaves_exact(program, inputs, outputs)
    # An infinity that the model means, such as a mask's, is no overflow.
    named = [each for each in broken if is_wrong or each.kind in OF_TYPES]
    return [_finding(each, is_wrong) for each in named]


def _has_halves(plan: schema.ExecutionPlan) -> bool:
    tensors = (value.val for value in plan.values if isinstance(value.val, schema.Tensor))
    return any(tensor.scalar_type in _HALVES for tensor in tensors)


def _finding(each: Broken, is_wrong: bool) -> Finding:
    what = f"{each.node.name} ({each.found.name}): {each.kind}"
    outputs = "outputs are wrong" if is_wrong else f"outputs are within {COARSE:.0%} all the same"
    values = each.found.values
    size = sum(value.numel() * value.element_size() for value in values)
    line = (str(origin_of(each.source)),)
    kind = STOPS if is_wrong else NUMBERS
    return Finding(kind, what, f"{each}; {outputs}", NEXT_STEP, 1, size, line)
