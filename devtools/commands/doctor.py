# SPDX-License-Identifier: BSD-3-Clause
"""What stops a program, slows it or takes its memory: everything at once, with the line of Python and the next step.

Takes a program file, with the record of its model for lines and reasons, or an exported program (torch.export.save),
which is lowered for --backend as it would be.

    python -m executorch.devtools doctor model.pte --etrecord model.etrecord --html model.html
    python -m executorch.devtools doctor model.pt2

The exit status is 1 when something stops the program.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.export import ExportedProgram

from executorch.devtools.commands.origins import Origins
from executorch.devtools.commands.planned import Planned, alive_bytes, planned_tensors
from executorch.devtools.commands.program_file import (
    Call,
    ProgramFile,
    calls_of,
    payload_reader,
    tensors_of,
)
from executorch.devtools.commands.report import Picture, Report, Row, Table
from executorch.devtools.commands.svg import steps
from executorch.devtools.commands.targets import HERE, op_tables, target
from executorch.devtools.inspector._graphs import one_method
from executorch.exir import schema
from executorch.exir.error import ExportError
from executorch.exir.program._etrecord import ETRecord, parse_etrecord

STOPS, SLOW, MEMORY = "stops", "slow", "memory"
_CONVERSIONS = ("_to_copy", "_to_dim_order_copy")
_MOVES = (
    "_copy",
    "clone",
    "_clone_dim_order",
    "cat",
)  # ends of names of operators that compute nothing


@dataclass(frozen=True)
class Finding:
    """`calls`: how many calls of the file it is about; `num_bytes`: what they write, or what is taken."""

    kind: str
    what: str
    why: str
    next_step: str
    calls: int = 0
    num_bytes: int = 0
    lines: tuple[str, ...] = ()

    def row(self) -> Row:
        return {
            "kind": self.kind,
            "finding": self.what,
            "why": self.why,
            "calls": self.calls,
            "bytes": self.num_bytes,
            "line": self.lines[0] if self.lines else "",
            "next step": self.next_step,
        }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, help="a program (.pte) or an exported program (.pt2)")
    parser.add_argument("--etrecord", type=Path, help="the record of a .pte's model")
    parser.add_argument(
        "--backend",
        default="XnnpackBackend",
        help="what a .pt2 is lowered for; none for kernels alone",
    )
    parser.add_argument(
        "--against", default=HERE, metavar="TARGET", help="where it will run, as of `check`"
    )


def report(arguments: argparse.Namespace) -> Report:
    if arguments.model.suffix != ".pt2":
        record = parse_etrecord(arguments.etrecord) if arguments.etrecord else None
        return _of_file(ProgramFile(arguments.model), record, arguments)
    reader = None if arguments.backend == "none" else payload_reader(arguments.backend)
    if reader is None and arguments.backend != "none":
        raise ValueError(
            f"--backend {arguments.backend}: expected none or a backend that says how to lower for it"
        )
    from executorch.exir import to_edge_transform_and_lower

    exported = torch.export.load(arguments.model)
    try:
        program = to_edge_transform_and_lower(
            exported, partitioner=[reader.partitioner()] if reader else None, generate_etrecord=True
        ).to_executorch()
    except ExportError as problem:
        return _report(str(arguments.model), _refused(problem), [], [])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{arguments.model.stem}.pte"
        program.save(path)
        return _of_file(ProgramFile(path), program.get_etrecord(), arguments)


def _refused(problem: ExportError) -> list[Finding]:
    """One finding for each call that the error names, or one for the error."""
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
    return [Finding(STOPS, call, lines[0], step, 1, 0, (place,)) for call, _, place in parts]


def _of_file(file: ProgramFile, record: ETRecord | None, arguments: argparse.Namespace) -> Report:
    origins = Origins(record) if record is not None else None
    findings = [
        *_missing(file, arguments.against, origins),
        *_outside(file, record, origins),
        *_moves(file, origins),
    ]
    tables, pictures = [], []
    for plan in file.program.execution_plan:
        finding, table, picture = _memory(plan, origins)
        findings += finding
        tables += table
        pictures += picture
    return _report(str(arguments.model), findings, tables, pictures)


def _report(
    title: str, findings: Sequence[Finding], tables: Sequence[Table], pictures: Sequence[Picture]
) -> Report:
    stops = [each for each in findings if each.kind == STOPS]
    sentence = f"{len(stops)} things stop it." if stops else "Nothing stops it."
    slow = sum(each.kind == SLOW for each in findings)
    rows = [
        each.row()
        for each in sorted(findings, key=lambda each: (each.kind != STOPS, -each.num_bytes))
    ]
    return Report(
        title,
        [f"{sentence} {slow} findings about its time."],
        [Table("findings", "Findings", rows, shown=max(20, len(stops))), *tables],
        pictures,
        status=int(bool(stops)),
    )


def _lines(calls: Sequence[Call], origins: Origins | None) -> tuple[str, ...]:
    found = [str(origin) for call in calls for origin in origins.of_call(call)] if origins else []
    return tuple(dict.fromkeys(found))


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


def num_bytes(tensor: schema.Tensor) -> int:
    from executorch.exir.scalar_type import ScalarType
    from executorch.exir.tensor import get_scalar_type, num_bytes_from_shape_and_dtype

    dtype = get_scalar_type(ScalarType(tensor.scalar_type))
    return num_bytes_from_shape_and_dtype(torch.Size(tensor.sizes), dtype)


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
            findings.append(Finding(STOPS, name, why, step, len(calls), 0, _lines(calls, origins)))
    return findings


def _outside(file: ProgramFile, record: ETRecord | None, origins: Origins | None) -> list[Finding]:
    """What stays outside of delegates, where there are some."""
    backends = {call.name for call in file.calls if call.delegate is not None}
    if not backends:
        return []
    reasons: dict[str, str] = {}
    edge = one_method(record.edge_dialect_program) if record is not None else None
    for backend in backends:
        reader = payload_reader(backend)
        if isinstance(edge, ExportedProgram) and hasattr(reader, "why_not_delegated"):
            reasons |= reader.why_not_delegated(edge)
    grouped: dict[tuple[str, str], list[Call]] = {}
    for call in file.calls:
        if call.delegate is None and not call.name.startswith("executorch_prim::"):
            nodes = [origin.node for origin in origins.of_call(call)] if origins else []
            why = next((reasons[node] for node in nodes if node in reasons), "")
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
            len(calls),
            _written(file, calls),
            _lines(calls, origins),
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
            )
        )
    return findings


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
                found = (len(changing), _written(file, changing), _lines(changing, origins))
                findings.append(Finding(SLOW, f"{name} converts", why, step, *found))
            calls = [call for call in calls if call not in changing]
        if calls and plain.endswith(_MOVES):
            why = "it computes nothing: it writes what it reads in other places"
            step = "keep the layout that readers want, or drop it in the model"
            findings.append(
                Finding(
                    SLOW,
                    f"{name} copies",
                    why,
                    step,
                    len(calls),
                    _written(file, calls),
                    _lines(calls, origins),
                )
            )
    return findings


def _converts(plan: schema.ExecutionPlan, call: Call) -> bool:
    tensors = list(tensors_of(plan, call))
    return len(tensors) > 1 and tensors[0].scalar_type != tensors[-1].scalar_type


def _memory(
    plan: schema.ExecutionPlan, origins: Origins | None
) -> tuple[list[Finding], list[Table], list[Picture]]:
    calls, tensors = list(calls_of(plan)), planned_tensors(plan)
    alive = alive_bytes(tensors, len(calls))
    if not alive or not max(alive):
        return [], [], []
    peak = alive.index(max(alive))
    held = [each for each in tensors if each.first <= peak <= each.last and each.num_bytes]
    rows = [_owner(each, origins) for each in held]
    rows.sort(key=lambda row: -row["bytes"])
    arenas = sum(plan.non_const_buffer_sizes)
    finding = Finding(
        MEMORY,
        f"{plan.name}: {alive[peak]:,} of {arenas:,} planned bytes are alive at call {peak}, {calls[peak].name}",
        f"the largest: {rows[0]['tensor']}, {rows[0]['bytes']:,} bytes",
        "smaller inputs, or let what makes it and what reads it be one delegate",
        1,
        alive[peak],
        _lines([calls[peak]], origins) or ((rows[0]["line"],) if rows[0]["line"] else ()),
    )
    table = Table(f"peak of {plan.name}", f"Alive at the peak of {plan.name}", rows, "bytes")
    chart = steps(
        alive, f"call 0 of {plan.name}", f"{len(calls)} calls, at most {max(alive):,} bytes", peak
    )
    return [finding], [table], [Picture(f"Planned memory of {plan.name}", chart)]


def _owner(tensor: Planned, origins: Origins | None) -> Row:
    lines = _lines([tensor.maker], origins) if tensor.maker is not None else ()
    return {
        "tensor": f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.sizes)}",
        "made by": tensor.maker.name if tensor.maker is not None else "(input)",
        "bytes": tensor.num_bytes,
        "line": lines[0] if lines else "",
    }
