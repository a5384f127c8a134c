# SPDX-License-Identifier: BSD-3-Clause
"""Will a program load there: the report of `check`."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from executorch.devtools.commands.arguments.options import HERE
from executorch.devtools.commands.output.report import Figure, Report, Row, Table
from executorch.devtools.commands.output.words import is_or_are, number_of
from executorch.devtools.commands.program_file import ProgramFile, tensors_of
from executorch.devtools.commands.targets import (
    Target,
    dtypes_of,
    kernel_key,
    op_tables,
    target,
)
from executorch.devtools.devices import LOCAL, opened
from executorch.devtools.devices.job import Device, Job
from executorch.exir._serialize._cord import Cord
from executorch.exir.dump import external_names
from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer

FINE, WRONG, UNKNOWN = "ok", "missing", "unknown"
_VERSION = 0  # of the schema


def report(arguments: argparse.Namespace) -> Report:
    if arguments.device != LOCAL and arguments.against != HERE:
        raise ValueError("--against: expected no --device, which says where it will run")
    file = ProgramFile(arguments.file)
    with opened(arguments) as device:
        return _report(file, target(arguments.against, device), arguments, device)


def _report(
    file: ProgramFile, there: Target, arguments: argparse.Namespace, device: Device
) -> Report:
    rows = [
        *_versions(file),
        *_operators(file, there),
        *_backends(file, there),
        *_memory(file, arguments.memory),
        *_external(file, arguments.data),
    ]
    if arguments.against == HERE and len(arguments.data) <= 1 and not _wrong(rows):
        rows += _load(file, next(iter(arguments.data), None), device)
    wrong, unknown = _wrong(rows), sum(row["found"] == UNKNOWN for row in rows)
    sentence = f"It will not load in {there.title}: {_not_met(len(wrong), len(rows))}"
    if not wrong:
        sentence = f"It will load in {there.title}"
        if unknown:
            sentence += f", as far as can be told: {number_of(unknown, 'need')} {is_or_are(unknown)} unknown"
    if not there.is_certain:
        sentence += ". (By the names in the binary; which dtypes it has is not known.)"
    shown = [row for row in rows if row["found"] != FINE] + [
        row for row in rows if row["found"] == FINE
    ]
    table = Table("requirements", "What it needs", shown, shown=max(20, len(rows) if wrong else 20))
    return Report(
        f"{file.path} against {there.title}",
        [sentence],
        [table],
        status=int(bool(wrong)),
        figures=[
            Figure("needs", f"{len(rows):,}"),
            Figure("not met", f"{len(wrong):,}"),
            Figure("unknown", f"{unknown:,}"),
        ],
    )


def _not_met(wrong: int, count: int) -> str:
    return f"{wrong} of {number_of(count, 'need')} {is_or_are(wrong)} not met"


def missing_here(path: Path) -> list[str]:
    """Operators and backends of a program that this package's runtime does not have."""
    file, there = ProgramFile(path), target(HERE)
    unmet = _wrong([*_backends(file, there), *_operators(file, there)])
    return [f"{row['kind']} {str(row['needs']).partition(',')[0]}" for row in unmet]


def _wrong(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["found"] not in (FINE, UNKNOWN)]


def _row(kind: str, needs: str, found: str, next_step: str = "") -> Row:
    return {"kind": kind, "needs": needs, "found": found, "next step": next_step}


def _versions(file: ProgramFile) -> list[Row]:
    identifier = file.data[4:8].decode("ascii", "replace")
    version = file.program.version
    return [
        _row("version", f"format {identifier}, schema version {version}", FINE)
        if identifier == "ET12" and version == _VERSION
        else _row(
            "version",
            f"format {identifier}, schema version {version}",
            f"expected ET12 and {_VERSION}",
            "export again with this release",
        )
    ]


def _operators(file: ProgramFile, there: Target) -> list[Row]:
    calls: dict[str, Counter[str]] = {}
    plans = {plan.name: plan for plan in file.program.execution_plan}
    for call in file.calls:
        if call.delegate is None:
            key = kernel_key(list(tensors_of(plans[call.method], call)))
            calls.setdefault(call.name, Counter())[key] += 1
    libraries = op_tables()
    rows = []
    for name, keys in sorted(calls.items()):
        what = f"{name}, called {number_of(keys.total(), 'time')}"
        if there.operators is not None and name not in there.operators:
            having = [library for library, table in libraries.items() if name in table]
            step = (
                f"link the kernels of {' or '.join(having)}"
                if having
                else "register its kernel: no library has it"
            )
            rows.append(_row("operator", what, WRONG, step))
            continue
        refused = [key for key in keys if not there.has_dtypes(name, key)]
        dtypes = sorted({", ".join(dtypes_of(key)) for key in refused})
        rows.append(
            _row(
                "dtype",
                f"{name} on ({'); ('.join(dtypes)})",
                WRONG,
                "select the kernels from this file, too",
            )
            if refused
            else _row("operator", what, FINE)
        )
    return rows


def _backends(file: ProgramFile, there: Target) -> list[Row]:
    calls = Counter(call.name for call in file.calls if call.delegate is not None)
    rows = []
    for name, count in sorted(calls.items()):
        found = UNKNOWN if there.backends is None else FINE if name in there.backends else WRONG
        step = "link the backend, or lower without it" if found == WRONG else ""
        rows.append(_row("backend", f"{name}, called {number_of(count, 'time')}", found, step))
    return rows


def _memory(file: ProgramFile, limit: int | None) -> list[Row]:
    rows = []
    for plan in file.program.execution_plan:
        planned = sum(plan.non_const_buffer_sizes)
        what = f"{number_of(planned, 'byte')} planned for {plan.name}"
        if limit is None:
            rows.append(_row("memory", what, FINE))
        else:
            rows.append(
                _row("memory", what, FINE)
                if planned <= limit
                else _row(
                    "memory",
                    what,
                    number_of(limit, "byte"),
                    f"{planned - limit:,} too many: smaller inputs, or see `doctor` for what is alive at the peak",
                )
            )
    return rows


def _external(file: ProgramFile, data: list[Path]) -> list[Row]:
    """External tensors, each found in one of the data files with its size or not. Keys that only a backend reads are
    not known here."""
    held: dict[str, int] = {}
    for path in data:
        payload = FlatTensorSerializer().deserialize(Cord(path.read_bytes()))
        for key, entry in payload.named_data.items():
            held[key] = len(payload.buffers[entry.buffer_index])
    rows = []
    for name in sorted(external_names(file.program)):
        found = FINE if name in held else WRONG
        step = (
            ""
            if name in held
            else "give its data file with --data"
            if not data
            else "no data file has this key"
        )
        rows.append(_row("external data", name, found, step))
    return rows


def _load(file: ProgramFile, data_path: Path | None, device: Device) -> list[Row]:
    rows = []
    for plan in file.program.execution_plan:
        try:
            device.load(Job(file.path, plan.name, (), data_path))
            rows.append(_row("loading", f"method {plan.name}", FINE))
        except RuntimeError as problem:
            rows.append(
                _row("loading", f"method {plan.name}", str(problem).splitlines()[0], "see the log")
            )
    return rows
