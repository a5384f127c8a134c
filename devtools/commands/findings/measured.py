# SPDX-License-Identifier: BSD-3-Clause
"""What a program takes here, beside what it should take: the parts of `doctor` that run it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from executorch.devtools.commands import given
from executorch.devtools.commands.findings.layers import layer_of, shown_lines
from executorch.devtools.commands.inputs.used import Used, as_torch, used_inputs
from executorch.devtools.commands.numbers.findings import number_findings
from executorch.devtools.commands.origins import Origins
from executorch.devtools.commands.output import words
from executorch.devtools.commands.output.finding import (
    SLOW,
    Finding,
)
from executorch.devtools.commands.output.report import Picture, Row, Table
from executorch.devtools.commands.program_file import (
    ProgramFile,
)
from executorch.devtools.commands.times import Execution, execution
from executorch.devtools.costs.estimate import Estimated, estimates, seconds_of
from executorch.devtools.costs.machine import KERNELS, Machine
from executorch.devtools.costs.rates import machine
from executorch.devtools.costs.sizes import has_open_sizes, set_sizes
from executorch.devtools.costs.timing import Timed, timed, traced
from executorch.devtools.costs.work import multiply_adds_of
from executorch.devtools.devices.job import Device, Job
from executorch.devtools.inspector._events import Event
from executorch.devtools.inspector._graphs import of_method, one_method
from executorch.exir import schema
from executorch.exir.program._etrecord import ETRecord

_TIMES_SLOWER, _LEAST_SHARE = 10, 0.02  # than the machine; of the whole time


class Run:
    """What a program took, and what that tells; `seconds`: None when it does not run. `values`: its inputs, flat."""

    def __init__(
        self,
        file: ProgramFile,
        record: ETRecord | None,
        arguments: argparse.Namespace,
        device: Device,
    ) -> None:
        plan = file.plan(arguments.method)
        self._file, self._device, self.method = file, device, plan.name
        self._record = of_method(record, plan.name) if record is not None else None
        self.used, self._inputs = _inputs(plan, self._record, arguments)
        self.findings: list[Finding] = []
        self.tables: list[Table] = []
        self.pictures: list[Picture] = []
        self.notes: list[str] = []
        self._ran: Execution | None = None
        here = self._expect(self._record) if self._record is not None else None
        self.values = pytree.tree_leaves(self._inputs)
        try:
            self._job = Job(file.data, plan.name, self.values, arguments.data)
            events = traced(self._job, self._record, device)
        except RuntimeError as problem:  # other findings say what it lacks, as a rule
            where = "here" if device.is_here else "there"
            self.notes.append(f"It does not run {where}: {str(problem).splitlines()[0]}")
            return
        self._measure(events)
        if self._record is not None and here is not None:
            self._explain(events, self._record, here)

    def _expect(self, record: ETRecord) -> Machine:
        here = machine(sorted(self._file.backends), self._device)
        edge = one_method(record.edge_dialect_program)
        if isinstance(edge, ExportedProgram):
            set_sizes(edge, self._inputs)  # work is counted at the sizes that run
        expected = estimates(self._file, self.method, record, here)
        self.notes.append(_forecast(self.method, expected, self._device))
        self.tables.append(_by_kind(expected))
        return here

    def _measure(self, events: Sequence[Event]) -> None:
        origins = Origins(self._record) if self._record is not None else None
        self._ran = execution(self._file, self.method, events, origins)
        self.notes = [" ".join([*self.notes, f"It took {words.timed(1e3 * self._ran.seconds)}."])]
        self.tables += self._ran.tables()
        self.pictures.append(self._ran.picture())

    def _explain(self, events: Sequence[Event], record: ETRecord, here: Machine) -> None:
        measured = timed(events, record)
        self.findings += below_machine(measured, self.method, Origins(record), here)
        self.findings += number_findings(self._file, self._job, record, self._inputs, self._device)

    @property
    def seconds(self) -> float | None:
        return None if self._ran is None else self._ran.seconds

    def seconds_at(self, place: tuple[str, int]) -> float | None:
        """Of a call of the method that ran."""
        method, instruction = place
        if self._ran is None or method != self.method:
            return None
        return self._ran.seconds_of(instruction)


def _inputs(
    plan: schema.ExecutionPlan, record: ETRecord | None, arguments: argparse.Namespace
) -> tuple[list[Used], tuple[Any, ...]]:
    """What it runs on, and the same as the model takes it."""
    edge = one_method(record.edge_dialect_program) if record is not None else None
    recorded = given.recorded_inputs(record, edge) if record is not None else None
    leaves, structure = pytree.tree_flatten(recorded)
    names = edge.graph_signature.user_inputs if isinstance(edge, ExportedProgram) else ()
    used = used_inputs(plan, arguments, None if recorded is None else leaves, names)
    values = as_torch(used)
    if recorded is None or structure.num_leaves != len(values):
        return used, tuple(values)
    return used, pytree.tree_unflatten(values, structure)


def _forecast(method: str, expected: Sequence[Estimated], device: Device) -> str:
    seconds = sum(each.seconds for each in expected)
    where = device.processor if device.is_here else device.title
    note = f"{method} should take {words.timed(1e3 * seconds)} on {where}"
    unknown = sum(has_open_sizes(each.nodes) for each in expected)
    return note + (
        f", without {words.number_of(unknown, 'operator')} whose sizes only a run tells."
        if unknown
        else "."
    )


def _by_kind(expected: Sequence[Estimated]) -> Table:
    """Each operator counts for the largest of its kinds of work."""
    rows: dict[tuple[str, str], Row] = {}
    for each in expected:
        kind = max(each.works, key=lambda work: work.amount).kind if each.works else "other"
        row = rows.setdefault(
            (kind, each.engine),
            {"kind": kind, "by": each.engine or "kernels", "operators": 0, "ms": 0.0},
        )
        row["operators"] += 1
        row["ms"] += 1e3 * each.seconds
    listed = sorted(rows.values(), key=lambda row: -row["ms"])
    return Table("expected", "Expected time by kind of work", listed, "ms")


def below_machine(
    measured: Sequence[Timed], method: str, origins: Origins, here: Machine
) -> list[Finding]:
    """Operators that take much longer than the machine needs, and much of the time."""
    whole = sum(each.seconds for each in measured)
    findings = []
    for each in measured:
        if has_open_sizes(each.nodes):
            continue  # how much it has to do is not known
        expected = seconds_of(each.nodes, each.engine, here)
        if each.seconds < max(_TIMES_SLOWER * expected, _LEAST_SHARE * whole):
            continue
        adds = sum(map(multiply_adds_of, each.nodes))
        what = f"{each.name}: {expected / each.seconds:.1%} of the machine's expected speed"
        size, took = words.number_of(each.num_bytes, "byte"), words.timed(1e3 * each.seconds)
        why = (
            f"{took}, {each.seconds / whole:.0%} of all; {size} and {words.number_of(adds, 'multiply-add')} need "
            f"{words.timed(1e3 * expected)}"
        )
        step = (
            "ask for a faster kernel of it (--backend, kernels/optimized)"
            if each.engine == KERNELS
            else "change its sizes or its layout; `bench` says what that gains"
        )
        known = origins.of_handles(each.handles, method)
        layer = replace(layer_of(known, each.name, each.name), seconds=each.seconds)
        found = (1, each.num_bytes, shown_lines(known), "slower than this machine", (layer,))
        findings.append(Finding(SLOW, what, why, step, *found))
    return findings
