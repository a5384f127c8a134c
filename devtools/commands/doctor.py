# SPDX-License-Identifier: BSD-3-Clause
"""What stops a program, slows it or takes its memory: the report of `doctor`."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from executorch.devtools.commands import given, python_model
from executorch.devtools.commands.arguments.options import HERE
from executorch.devtools.commands.inputs.declared import num_bytes
from executorch.devtools.commands.inputs.used import as_torch, is_asked, sentence, used_inputs
from executorch.devtools.commands.memory import Memory, memory_of
from executorch.devtools.commands.numbers.findings import number_findings
from executorch.devtools.commands.origins import Origin, Origins
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
from executorch.devtools.commands.output.report import Picture, Report, Row, Table
from executorch.devtools.commands.program_file import (
    Call,
    ProgramFile,
    payload_reader,
    tensors_of,
    writes_tensors,
)
from executorch.devtools.commands.targets import op_tables, target
from executorch.devtools.commands.times import THE_MODEL, Execution, execution
from executorch.devtools.costs.estimate import Estimated, estimates, seconds_of
from executorch.devtools.costs.machine import KERNELS, Machine, machine, processor
from executorch.devtools.costs.sizes import has_open_sizes, set_sizes
from executorch.devtools.costs.timing import Timed, timed, traced
from executorch.devtools.costs.work import multiply_adds_of
from executorch.devtools.inspector._graphs import FORWARD, of_method, one_method
from executorch.exir import schema
from executorch.exir.error import ExportError
from executorch.exir.program._etrecord import ETRecord

_TIMES_SLOWER, _LEAST_SHARE = 10, 0.02  # than the machine; of the whole time
_CONVERSIONS = ("_to_copy", "_to_dim_order_copy")
_MOVES = (
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
    reader = None if arguments.backend == "none" else payload_reader(arguments.backend)
    if reader is None and arguments.backend != "none":
        raise ValueError(
            f"--backend {arguments.backend}: expected none or a backend that says how to lower for it"
        )
    from executorch.exir import to_edge_transform_and_lower

    try:
        program = to_edge_transform_and_lower(
            exported, partitioner=[reader.partitioner()] if reader else None, generate_etrecord=True
        ).to_executorch()
    except ExportError as problem:
        return _report(arguments.model, _refused(problem), [], [])
    file = ProgramFile(Path(arguments.model), bytes(program.buffer))
    return _of_file(file, program.get_etrecord(), arguments)


def _breaks(found: Sequence[python_model.GraphBreak]) -> list[Finding]:
    stops, *breaks = found
    step = "torch.cond or torch.where for a branch, torch._check for the range of a number, or take it out of forward()"
    return [
        Finding(STOPS, stops.what, "torch.export goes no further", step, 1, 0, (stops.line,)),
        *(
            Finding(
                BREAK,
                each.what,
                "the graph breaks here: it may stop next",
                step,
                1,
                0,
                (each.line,),
            )
            for each in breaks
        ),
    ]


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


def _of_file(file: ProgramFile, record: ETRecord | None, arguments: argparse.Namespace) -> Report:
    findings, tables, pictures = examine(file, record, arguments.against)
    notes = [] if record else ["Lines and reasons need the record of its model: --etrecord."]
    if arguments.no_run:
        if is_asked(arguments):
            raise ValueError(
                "--no-run: expected no --inputs and no --shape, which a run alone needs"
            )
        return _report(arguments.model, findings, tables, pictures, notes)
    ran = _Run(file, record, arguments)
    findings = [each.timed(ran.seconds_at) for each in findings] + ran.findings
    tables, pictures = [*ran.tables, *tables], [*ran.pictures, *pictures]
    notes = [sentence(ran.used), *ran.notes, *notes]
    facts = {"inputs": [each.row() for each in ran.used]}
    return _report(arguments.model, findings, tables, pictures, notes, ran.seconds, facts)


class _Run:
    """What a program took here, and what that tells; `seconds`: None when it does not run."""

    def __init__(
        self, file: ProgramFile, record: ETRecord | None, arguments: argparse.Namespace
    ) -> None:
        plan = file.plan(arguments.method)
        self.method = method = plan.name
        record = of_method(record, method) if record is not None else None
        edge = one_method(record.edge_dialect_program) if record is not None else None
        recorded = given.recorded_inputs(record, edge) if record is not None else None
        leaves, structure = pytree.tree_flatten(recorded)
        names = edge.graph_signature.user_inputs if isinstance(edge, ExportedProgram) else ()
        self.used = used_inputs(plan, arguments, None if recorded is None else leaves, names)
        values = as_torch(self.used)
        fits = recorded is not None and structure.num_leaves == len(values)
        inputs = pytree.tree_unflatten(values, structure) if fits else tuple(values)
        self.findings: list[Finding] = []
        self.tables: list[Table] = []
        self.pictures: list[Picture] = []
        self.notes: list[str] = []
        self._ran: Execution | None = None
        here = None
        if record is not None:
            here = machine(sorted(file.backends))
            if isinstance(edge, ExportedProgram):
                set_sizes(edge, inputs)  # work is counted at the sizes that run
            expected = estimates(file, method, record, here)
            self.notes.append(_forecast(method, expected))
            self.tables.append(_by_kind(expected))
        try:
            events = traced(file.data, method, values, record, arguments.data)
        except RuntimeError as problem:  # other findings say what it lacks, as a rule
            self.notes.append(f"It does not run here: {str(problem).splitlines()[0]}")
            return
        origins = Origins(record) if record is not None else None
        self._ran = execution(file, method, events, origins)
        self.notes = [" ".join([*self.notes, f"It took {1e3 * self._ran.seconds:.3g} ms."])]
        self.tables += self._ran.tables()
        self.pictures.append(self._ran.picture())
        if record is not None and origins is not None and here is not None:
            self.findings += below_machine(timed(events, record), method, origins, here)
            self.findings += number_findings(file, method, record, inputs, arguments.data)

    @property
    def seconds(self) -> float | None:
        return None if self._ran is None else self._ran.seconds

    def seconds_at(self, place: tuple[str, int]) -> float | None:
        """Of a call of the method that ran."""
        method, instruction = place
        is_known = self._ran is not None and method == self.method
        return self._ran.seconds_of(instruction) if is_known else None


def _forecast(method: str, expected: Sequence[Estimated]) -> str:
    seconds = sum(each.seconds for each in expected)
    note = f"{method} should take {1e3 * seconds:.3g} ms on {processor()}"
    unknown = sum(has_open_sizes(each.nodes) for each in expected)
    return note + (
        f", without {unknown} operators whose sizes only a run tells." if unknown else "."
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


def examine(
    file: ProgramFile, record: ETRecord | None, against: str = HERE
) -> tuple[list[Finding], list[Table], list[Picture]]:
    """What the file tells without being run. The record gives lines and reasons."""
    origins = Origins(record) if record is not None else None
    findings = [
        *_missing(file, against, origins),
        *_outside(file, record, origins),
        *_moves(file, origins),
    ]
    tables, pictures = [], []
    for plan in file.program.execution_plan:
        memory = memory_of(plan, origins)
        if memory is not None:
            findings.append(_memory(memory, origins))
            tables.append(memory.table())
            pictures += memory.pictures()
    return findings, tables, pictures


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
        why = (
            f"{1e3 * each.seconds:.3g} ms, {each.seconds / whole:.0%} of all; {each.num_bytes:,} bytes and "
            f"{adds:,} multiply-adds need {1e3 * expected:.3g} ms"
        )
        step = (
            "ask for a faster kernel of it (--backend, kernels/optimized)"
            if each.engine == KERNELS
            else "change its sizes or its layout; `bench` says what that gains"
        )
        known = origins.of_handles(each.handles, method)
        layer = replace(_layer(known, each.name, each.name), seconds=each.seconds)
        found = (1, each.num_bytes, _shown(known), "slower than this machine", (layer,))
        findings.append(Finding(SLOW, what, why, step, *found))
    return findings


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
    sentence = f"{count[STOPS]} things stop it." if count[STOPS] else "Nothing stops it."
    shown = max(20, count[STOPS])
    bars = "ms" if seconds else None
    return Report(
        title,
        [
            f"{sentence} {count[SLOW]} findings about its time.",
            *([f"{count[NUMBERS]} about its numbers."] if count[NUMBERS] else []),
            *notes,
        ],
        [Table("findings", "Findings", rows, bars, shown), *tables],
        pictures,
        facts or {},
        status=int(bool(count[STOPS])),
    )


def _lines(calls: Sequence[Call], origins: Origins | None) -> tuple[str, ...]:
    return _shown(origin for call in calls for origin in origins.of_call(call)) if origins else ()


def _layers(calls: Sequence[Call], origins: Origins | None) -> tuple[Layer, ...]:
    """One a call, without its time."""
    return tuple(
        replace(
            _layer(origins.of_call(call) if origins else [], call.name, f"call {call.instruction}"),
            place=(call.method, call.instruction),
        )
        for call in calls
    )


def _layer(known: Sequence[Origin], operator: str, otherwise: str) -> Layer:
    """By the first node that a call stands for."""
    if not known:
        return Layer(otherwise, operator)
    return Layer(known[0].module or THE_MODEL, operator, str(known[0]))


def _about(
    calls: Sequence[Call], written: int, origins: Origins | None, cause: str
) -> tuple[int, int, tuple[str, ...], str, tuple[Layer, ...]]:
    """The later fields of a finding about calls."""
    return len(calls), written, _lines(calls, origins), cause, _layers(calls, origins)


def _shown(origins: Iterable[Origin]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(str, origins)))


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


def _missing(file: ProgramFile, against: str, origins: Origins | None) -> list[Finding]:
    there, libraries = target(against), op_tables()
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
            about = _about(calls, 0, origins, f"without a kernel in {there.title}")
            findings.append(Finding(STOPS, name, why, step, *about))
    return findings


def forecast(
    backends: Iterable[str], record: ETRecord | None, method: str = FORWARD
) -> dict[str, str]:
    """Nodes of a method's edge program that stay outside of all backends, and why, as far as these say so."""
    edge = one_method(record.edge_dialect_program, method) if record is not None else None
    if isinstance(edge, ExportedProgram):
        edge.graph.eliminate_dead_code()  # a record that was read has items that nothing reads
    readers = [payload_reader(backend) for backend in backends]
    said = [
        reader.why_not_delegated(edge)
        for reader in readers
        if isinstance(edge, ExportedProgram) and hasattr(reader, "why_not_delegated")
    ]
    common = set.intersection(*map(set, said)) if said else set()
    return {node: why for each in said for node, why in each.items() if node in common}


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
            said = reasons[call.method]
            why = next((said[node] for node in nodes if node in said), "")
            grouped.setdefault((call.name, why), []).append(call)
    step = (
        "rewrite it with operators that the backend takes (docs/guide/op-support.csv), or leave it"
    )
    findings = [
        Finding(
            SLOW,
            f"{name} outside of delegates",
            why,
            step,
            *_about(
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
                f"{count} calls of delegates",
                why,
                "see what stands between them, above",
                count,
                lines=_lines([call for calls in grouped.values() for call in calls], origins),
            )
        )
    return findings


def _computes(plan: schema.ExecutionPlan, call: Call) -> bool:
    return not call.name.startswith("executorch_prim::") and writes_tensors(plan, call)


def _moves(file: ProgramFile, origins: Origins | None) -> list[Finding]:
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
                about = _about(changing, _written(file, changing), origins, "that convert")
                findings.append(Finding(SLOW, f"{name} converts", why, step, *about))
            calls = [call for call in calls if call not in changing]
        if calls and plain.endswith(_MOVES):
            why = "it computes nothing: it writes what it reads in other places"
            step = "keep the layout that readers want, or drop it in the model"
            about = _about(calls, _written(file, calls), origins, "that copy")
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
        f"the largest: {largest['tensor']}, {largest['bytes']:,} bytes",
        "smaller inputs, or let what makes it and what reads it be one delegate",
        1,
        alive,
        _lines([call], origins) or ((largest["line"],) if largest["line"] else ()),
    )
