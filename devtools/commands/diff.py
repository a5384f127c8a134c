# SPDX-License-Identifier: BSD-3-Clause
"""What differs between two program files: the report of `diff`."""

from __future__ import annotations

import argparse
import hashlib
from collections import Counter
from collections.abc import Mapping
from typing import Any

from executorch.devtools.commands import owners
from executorch.devtools.commands.output.report import Figure, Report, Row, Table
from executorch.devtools.commands.output.words import number_of, sized
from executorch.devtools.commands.program_file import ProgramFile
from executorch.exir.dump import summary


def report(arguments: argparse.Namespace) -> Report:
    return differences(ProgramFile(arguments.a), ProgramFile(arguments.b))


def differences(a: ProgramFile, b: ProgramFile) -> Report:
    title = f"{a.path} -> {b.path}"
    if a.data == b.data:
        return Report(
            title,
            ["The files are equal, byte by byte."],
            facts={"equal": True},
            figures=[Figure("size of each", sized(len(a.data)))],
        )
    tables = [
        Table("methods", "Methods", _different(_methods(a), _methods(b), "what"), shown=40),
        Table(
            "operators",
            "Calls of operators",
            _counted(_operators(a), _operators(b), "operator"),
            shown=40,
        ),
        Table(
            "delegated",
            "Operators inside of delegates",
            _counted(_delegated(a), _delegated(b), "operator"),
        ),
        Table(
            "parts",
            "Bytes by part",
            _counted(owners.parts(a), owners.parts(b), "part"),
            unit="bytes",
        ),
        Table("data", "Constants and data", _data(a, b)),
    ]
    change = len(b.data) - len(a.data)
    sentences = [f"{len(a.data):,} -> {number_of(len(b.data), 'byte')} ({change:+,})"]
    if not any(table.rows for table in tables):
        sentences.append(
            "Same methods, operators and data; they stand elsewhere or have other parameters."
        )
    figures = [
        Figure("before", sized(len(a.data))),
        Figure("after", sized(len(b.data))),
        Figure("change", f"{change / len(a.data):+.1%}"),
    ]
    return Report(title, sentences, tables, facts={"equal": False}, status=1, figures=figures)


def _methods(file: ProgramFile) -> dict[str, Any]:
    """What callers see of each method, and what it needs."""
    found: dict[str, Any] = {}
    for method in summary(file.program, file.data)["methods"]:
        for what in ("inputs", "outputs", "planned_bytes", "instructions"):
            found[f"{method['name']}: {what.replace('_', ' ')}"] = method[what]
    return found


def _operators(file: ProgramFile) -> Mapping[str, int]:
    return Counter(call.name for call in file.calls)


def _delegated(file: ProgramFile) -> Mapping[str, int]:
    return Counter(
        f"{each.backend}: {kind}"
        for each in owners.delegates(file)
        for kind, _, _ in each.operators or ()
    )


def _different(a: dict[str, Any], b: dict[str, Any], title: str) -> list[Row]:
    return [
        {title: key, "before": a.get(key), "after": b.get(key)}
        for key in dict.fromkeys([*a, *b])
        if a.get(key) != b.get(key)
    ]


def _counted(a: Mapping[str, int], b: Mapping[str, int], title: str) -> list[Row]:
    """Rows of what changed, the largest change first."""
    rows = [
        {
            title: key,
            "before": a.get(key, 0),
            "after": b.get(key, 0),
            "change": b.get(key, 0) - a.get(key, 0),
        }
        for key in dict.fromkeys([*a, *b])
        if a.get(key, 0) != b.get(key, 0)
    ]
    return sorted(rows, key=lambda row: -abs(row["change"]))


def _data(a: ProgramFile, b: ProgramFile) -> list[Row]:
    before, after = _blobs(a), _blobs(b)
    both = before & after
    rows = [
        {
            "data": name,
            "pieces": blobs.total(),
            "bytes": sum(size * n for (_, size), n in blobs.items()),
        }
        for name, blobs in (
            ("in both", both),
            ("only before", before - both),
            ("only after", after - both),
        )
    ]
    return rows if (before - both) or (after - both) else []


def _blobs(file: ProgramFile) -> Counter[tuple[bytes, int]]:
    return Counter(
        (
            hashlib.sha256(file.data[each.offset : each.offset + each.num_bytes]).digest(),
            each.num_bytes,
        )
        for each in owners.stretches(file)
        if each.part in ("constants", "named data", "start values")
    )
