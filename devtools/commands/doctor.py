# SPDX-License-Identifier: BSD-3-Clause
"""What stops a program, slows it or takes its memory: the report of `doctor`."""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

from torch.export import ExportedProgram

from executorch.devtools.commands import given, python_model
from executorch.devtools.commands.arguments.options import HERE
from executorch.devtools.commands.findings.backends import on_each_backend
from executorch.devtools.commands.findings.layers import fields_of, lines_of
from executorch.devtools.commands.findings.measured import Run
from executorch.devtools.commands.findings.native_code import native_code
from executorch.devtools.commands.inputs.declared import num_bytes
from executorch.devtools.commands.inputs.used import is_asked, sentence
from executorch.devtools.commands.memory import Memory, memory_of
from executorch.devtools.commands.origins import Origins
from executorch.devtools.commands.output.delegate_options import options_table
from executorch.devtools.commands.output.finding import (
    BREAK,
    MEMORY,
    NUMBERS,
    SLOW,
    STOPS,
    Finding,
    Layer,
    rows_of_causes,
)
from executorch.devtools.commands.output.report import Figure, Picture, Report, Table
from executorch.devtools.commands.output.words import number_of, sized, timed
from executorch.devtools.commands.program_file import (
    Call,
    ProgramFile,
    partitioner_of,
    tensors_of,
    writes_tensors,
)
from executorch.devtools.commands.targets import Target, op_tables, target
from executorch.devtools.devices import LOCAL, opened
from executorch.devtools.devices.here import Here
from executorch.devtools.devices.job import Device
from executorch.devtools.inspector._graphs import FORWARD, one_method
from executorch.exir import schema
from executorch.exir.capture import diagnostics
from executorch.exir.error import ExportError, source_line
from executorch.exir.program._etrecord import ETRecord
from executorch.exir.program._training_mode import TrainingModeWarning, training_calls

_CONVERSIONS = ("_to_copy", "_to_dim_order_copy")
_DATA_MOVEMENT = (
    "_copy",
    "clone",
    "_clone_dim_order",
    "cat",
)  # ends of names of operators that compute nothing


def report(arguments: argparse.Namespace) -> Report:
    if python_model.is_python(arguments.model):
        exported = python_model.export(python_model.load(arguments.model))
        if not isinstance(exported, ExportedProgram):
            return _report(arguments.model, _breaks(exported), [], [])
        return _of_exported(exported, arguments)
    path = Path(arguments.model)
    if path.suffix != ".pt2":
        record = given.record(arguments.etrecord) if arguments.etrecord else None
        return _of_file(ProgramFile(path), record, arguments)
    return _of_exported(given.exported_program(path), arguments)


def _of_exported(exported: ExportedProgram, arguments: argparse.Namespace) -> Report:
    partitioner = None if arguments.backend == "none" else partitioner_of(arguments.backend)
    if partitioner is None and arguments.backend != "none":
        raise ValueError(
            f"--backend {arguments.backend}: expected none or a backend that says how to lower for it"
        )
    from executorch.exir import to_edge_transform_and_lower

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TrainingModeWarning)  # it is a finding
            program = to_edge_transform_and_lower(
                exported, partitioner=[partitioner] if partitioner else None, generate_etrecord=True
            ).to_executorch()
    except ExportError as problem:
        return _report(arguments.model, _refused(problem), [], [])
    file = ProgramFile(Path(arguments.model), bytes(program.buffer))
    return _of_file(file, program.get_etrecord(), arguments, exported)


def _breaks(found: python_model.Refused) -> list[Finding]:
    step = "torch.cond or torch.where for a branch, torch._check for the range of a number, or take it out of forward()"
    stops = [
        Finding(STOPS, each.title, each.torch_text, _step(each), 1, 0, (each.line,))
        for each in found.findings
    ]
    why = "the graph breaks here: it may stop next"
    return stops + [
        Finding(BREAK, each.what, why, step, 1, 0, (each.line,)) for each in found.breaks
    ]


def _step(found: diagnostics.Finding) -> str:
    return f"{found.advice} Write:\n{dedent(found.code)}" if found.code else found.advice


def _refused(problem: ExportError) -> list[Finding]:
    """One finding for each call that the error names, which have one cause, or one for the error."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    named = [line for line in lines if " from File " in line]
    if not named:
        return [
            Finding(
                STOPS,
                lines[0],
                " ".join(lines[1:]),
                "rewrite what it names, or register what is missing",
            )
        ]
    step = " ".join(line for line in lines[1:] if line not in named)
    parts = [line.partition(" from ") for line in named]
    cause = "that cannot be part of a program"
    return [
        Finding(STOPS, call, lines[0], step, 1, 0, (place,), cause, (Layer(call, call, place),))
        for call, _, place in parts
    ]


def _of_file(
    file: ProgramFile,
    record: ETRecord | None,
    arguments: argparse.Namespace,
    exported: ExportedProgram | None = None,
) -> Report:
    """`exported`: what the file was lowered from, where that was here."""
    if arguments.all_backends and (exported is None or arguments.no_run):
        raise ValueError("--all-backends: expected a .pt2 or a model, which is lowered and run")
    if arguments.device == LOCAL:
        return _of_device(file, record, arguments, exported, Here())
    if arguments.against != HERE or arguments.all_backends or arguments.no_run:
        raise ValueError("--device: expected no --against, no --all-backends and no --no-run")
    with opened(arguments) as device:
        return _of_device(file, record, arguments, exported, device)


def _of_device(
    file: ProgramFile,
    record: ETRecord | None,
    arguments: argparse.Namespace,
    exported: ExportedProgram | None,
    device: Device,
) -> Report:
    findings, tables, pictures = examine(file, record, arguments.against, device)
    notes = [] if record else ["Lines and reasons need the record of its model: --etrecord."]
    if arguments.no_run:
        if is_asked(arguments):
            raise ValueError(
                "--no-run: expected no --inputs and no --shape, which a run alone needs"
            )
        return _report(arguments.model, findings, tables, pictures, notes)
    ran = Run(file, record, arguments, device)
    findings = [each.timed(ran.seconds_at) for each in findings] + ran.findings
    tables, pictures = [*ran.tables, *tables], [*ran.pictures, *pictures]
    notes = [sentence(ran.used), *ran.notes, *notes]
    if arguments.all_backends and exported is not None:
        compared, table = on_each_backend(exported, ran.values)
        notes, tables = [*compared, *notes], [table, *tables]
    facts = {"inputs": [each.row() for each in ran.used], "device": device.title}
    return _report(arguments.model, findings, tables, pictures, notes, ran.seconds, facts)


def _trains(record: ETRecord | None) -> list[Finding]:
    exported = record.exported_program if record is not None else None
    calls = training_calls(exported) if exported is not None else []
    if not calls:
        return []
    lines = tuple(source_line(call).removeprefix(" from ") for call in calls)
    why = "dropouts drop values, and batch norms take statistics of the batch: outputs differ from one run to the next"
    step = "call .eval() on the model before torch.export.export"
    layers = tuple(
        Layer(call.name, str(call.target), line) for call, line in zip(calls, lines, strict=True)
    )
    return [
        Finding(
            NUMBERS, "the model is in training mode", why, step, len(calls), 0, lines, layers=layers
        )
    ]


def examine(
    file: ProgramFile, record: ETRecord | None, against: str = HERE, device: Device | None = None
) -> tuple[list[Finding], list[Table], list[Picture]]:
    """What the file tells without being run. The record gives lines and reasons."""
    origins = Origins(record) if record is not None else None
    findings = [
        *_trains(record),
        *_missing(file, target(against, device), origins),
        *native_code(file),
        *_outside(file, record, origins),
        *_data_movement(file, origins),
    ]
    tables, pictures = [options_table(file)], []
    for plan in file.program.execution_plan:
        memory = memory_of(plan, origins)
        if memory is not None:
            findings.append(_memory(memory, origins))
            tables.append(memory.table())
            pictures += memory.pictures()
    return findings, tables, pictures


def _report(
    title: str,
    findings: Sequence[Finding],
    tables: Sequence[Table],
    pictures: Sequence[Picture],
    notes: Sequence[str] = (),
    seconds: float | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Report:
    """`seconds`: of the execution, where there was one."""
    rows = rows_of_causes(findings, seconds)
    count = Counter(row["kind"] for row in rows)
    sentence = _stop(count[STOPS])
    shown = max(20, count[STOPS])
    bars = "ms" if seconds else None
    return Report(
        title,
        [
            f"{sentence} {number_of(count[SLOW], 'finding')} about its time.",
            *([f"{count[NUMBERS]} about its numbers."] if count[NUMBERS] else []),
            *notes,
        ],
        [Table("findings", "Findings", rows, bars, shown), *tables],
        pictures,
        facts or {},
        status=int(bool(count[STOPS])),
        figures=[
            Figure("findings", f"{len(rows):,}"),
            *([Figure("one run took", timed(1e3 * seconds))] if seconds else []),
            *_peak(findings),
        ],
    )


def _stop(count: int) -> str:
    return (
        f"{number_of(count, 'thing')} {'stops' if count == 1 else 'stop'} it."
        if count
        else "Nothing stops it."
    )


def _peak(findings: Sequence[Finding]) -> list[Figure]:
    alive = [each.num_bytes for each in findings if each.kind == MEMORY]
    return [Figure("planned memory alive at most", sized(max(alive)))] if alive else []


def _grouped(calls: Sequence[Call]) -> dict[str, list[Call]]:
    groups: dict[str, list[Call]] = {}
    for call in calls:
        groups.setdefault(call.name, []).append(call)
    return groups


def _written(file: ProgramFile, calls: Sequence[Call]) -> int:
    """Bytes of the last tensors among the calls' arguments, which are what they write."""
    plans = {plan.name: plan for plan in file.program.execution_plan}
    total = 0
    for call in calls:
        tensors = list(tensors_of(plans[call.method], call))
        if tensors:
            total += num_bytes(tensors[-1])
    return total


def _missing(file: ProgramFile, there: Target, origins: Origins | None) -> list[Finding]:
    libraries = op_tables()
    findings = []
    for name, calls in _grouped(file.calls).items():
        if calls[0].delegate is not None:
            if there.backends is not None and name not in there.backends:
                why = f"{there.title} has no backend {name}"
                findings.append(
                    Finding(STOPS, name, why, "link it, or lower without it", len(calls))
                )
        elif there.operators is not None and name not in there.operators:
            having = [library for library, table in libraries.items() if name in table]
            step = (
                f"link the kernels of {' or '.join(having)}"
                if having
                else "register a kernel for it"
            )
            why = f"{there.title} has no kernel"
            about = fields_of(calls, 0, origins, f"without a kernel in {there.title}")
            findings.append(Finding(STOPS, name, why, step, *about))
    return findings


def forecast(
    backends: Iterable[str], record: ETRecord | None, method: str = FORWARD
) -> dict[str, str]:
    """Nodes of a method's edge program that stay outside of all backends, and why, as far as these say so."""
    edge = one_method(record.edge_dialect_program, method) if record is not None else None
    if isinstance(edge, ExportedProgram):
        edge.graph.eliminate_dead_code()  # a record that was read has items that nothing reads
    by_backend = []
    for backend in backends if isinstance(edge, ExportedProgram) else ():
        try:
            partitioner = partitioner_of(backend)
        except ValueError:  # without its SDK it says nothing
            continue
        if hasattr(partitioner, "why_not_delegated"):
            reasons = partitioner.why_not_delegated(edge)
            by_backend.append({node.name: why for node, why in reasons.items()})
    common = set.intersection(*map(set, by_backend)) if by_backend else set()
    return {node: why for each in by_backend for node, why in each.items() if node in common}


def _outside(file: ProgramFile, record: ETRecord | None, origins: Origins | None) -> list[Finding]:
    """What stays outside of delegates, where there are some."""
    if not file.backends:
        return []
    plans = {plan.name: plan for plan in file.program.execution_plan}
    reasons = {name: forecast(file.backends, record, name) for name in plans}
    grouped: dict[tuple[str, str], list[Call]] = {}
    for call in file.calls:
        if call.delegate is None and _computes(plans[call.method], call):
            nodes = [origin.node for origin in origins.of_call(call)] if origins else []
            of_method = reasons[call.method]
            why = next((of_method[node] for node in nodes if node in of_method), "")
            grouped.setdefault((call.name, why), []).append(call)
    step = "rewrite it with operators that the backend takes, or leave it"
    findings = [
        Finding(
            SLOW,
            f"{name} outside of delegates",
            why,
            step,
            *fields_of(
                calls,
                _written(file, calls),
                origins,
                "outside of delegates" + (f": {why}" if why else ""),
            ),
        )
        for (name, why), calls in grouped.items()
    ]
    count = sum(call.delegate is not None for call in file.calls)
    if count > 1:
        why = "values go through planned memory between them"
        findings.append(
            Finding(
                SLOW,
                number_of(count, "call") + " of delegates",
                why,
                "see what stands between them, above",
                count,
                lines=lines_of([call for calls in grouped.values() for call in calls], origins),
            )
        )
    return findings


def _computes(plan: schema.ExecutionPlan, call: Call) -> bool:
    return not call.name.startswith("executorch_prim::") and writes_tensors(plan, call)


def _data_movement(file: ProgramFile, origins: Origins | None) -> list[Finding]:
    plans = {plan.name: plan for plan in file.program.execution_plan}
    findings = []
    for name, calls in _grouped([call for call in file.calls if call.delegate is None]).items():
        plain = name.partition("::")[2].partition(".")[0]
        if plain.endswith(_CONVERSIONS):
            changing = [call for call in calls if _converts(plans[call.method], call)]
            if changing:
                why, step = (
                    "it converts elements to another dtype",
                    "convert the model, or its inputs, before export",
                )
                about = fields_of(changing, _written(file, changing), origins, "that convert")
                findings.append(Finding(SLOW, f"{name} converts", why, step, *about))
            calls = [call for call in calls if call not in changing]
        if calls and plain.endswith(_DATA_MOVEMENT):
            why = "it computes nothing: it writes what it reads in other places"
            step = "keep the layout that readers want, or drop it in the model"
            about = fields_of(calls, _written(file, calls), origins, "that copy")
            findings.append(Finding(SLOW, f"{name} copies", why, step, *about))
    return findings


def _converts(plan: schema.ExecutionPlan, call: Call) -> bool:
    tensors = list(tensors_of(plan, call))
    return len(tensors) > 1 and tensors[0].scalar_type != tensors[-1].scalar_type


def _memory(found: Memory, origins: Origins | None) -> Finding:
    name, call, largest = found.plan.name, found.calls[found.peak], found.owners[0]
    alive, arenas = found.alive[found.peak], sum(found.plan.non_const_buffer_sizes)
    return Finding(
        MEMORY,
        f"{name}: {alive:,} of {arenas:,} planned bytes are alive at call {found.peak}, {call.name}",
        f"the largest: {largest['tensor']}, {number_of(largest['bytes'], 'byte')}",
        "smaller inputs, or let what makes it and what reads it be one delegate",
        1,
        alive,
        lines_of([call], origins) or ((largest["line"],) if largest["line"] else ()),
    )
