# SPDX-License-Identifier: BSD-3-Clause
"""Results as JSON lines (the newest of a cell counts) and as the page docs/results/zoo.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from executorch.cli.plugins import NO_BACKEND
from executorch.tools.bench.figures import processor
from executorch.tools.measure import json_lines
from executorch.tools.zoo.models import COLUMNS, NETWORKS, PROGRAMS, TRAINED, Column

Row = dict[str, Any]
Cells = dict[tuple[str, str], Row]

HEAD = """# Models by name

What `executorch export NAME --backend BACKEND [--quantize int8]` makes of each model that has a name
(`executorch export --list`). Nothing is downloaded. Written by

    python -m executorch.tools.zoo --page docs/results/zoo.md

Where no package is named, weights are random: errors in 8 bits say less than those of
trained networks ([accuracy](accuracy.md)).
"""
TAKEN = """
## What backends take

Calls of the edge program that the backend has, of all calls; in 8 bits, quantizing and dequantizing are calls, too.
cortex_m and cadence are kernels: their own calls, of all calls of the file. An empty cell was not measured.

"""
RAN = """
## Size, accuracy and time

The size of the file; where this computer runs it, ||found - eager|| / ||eager|| of the worst output on the example
inputs, and the fastest of 20 runs (or of two seconds), of all methods. `none`: kernels alone. Empty: no call is the
backend's. vulkan is a driver that computes on the CPU, cortex_m the portable C of its kernels: their times are no
device's. Others work on the machine meanwhile, behind the runs: rivals are beside ours in [speed](speed.md).

"""
REFUSED = "\n## Refused\n\n"


def read(path: Path) -> Cells:
    return json_lines.read(path, lambda row: (row["name"], row["column"]))


def line(row: Row) -> str:
    """For a terminal."""
    return f"{row['name']}, {row['column']}: {took(row)}; {ran(row) or 'kernels alone'}"


def took(row: Row | None) -> str:
    """How many calls the backend has."""
    if row is None:
        return ""
    if "failed" in row:
        return "refused"
    return (
        f"all {row['taken']}"
        if not row["left"]
        else f"{row['taken']} of {row['taken'] + row['left']}"
    )


def ran(row: Row | None) -> str:
    """Size, error, time; of a file that does not run here its size. Nothing where the backend has no call."""
    if row is None or "failed" in row or not (row["taken"] or row["column"] == NO_BACKEND):
        return ""
    if "error" not in row:
        return size(row["bytes"])
    return f"{size(row['bytes'])}, {row['error']:.0e}, {milliseconds(row['ms'])}"


def size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"


def milliseconds(value: float) -> str:
    """Three digits, or thousandths."""
    return f"{value:.{3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0}f} ms"


def text(cells: Cells) -> str:
    """Of the models that were measured."""
    measured = {name for name, _ in cells}
    return "".join([
        HEAD, f"\n{date.today()}, {processor()}.\n", _about(cells, measured),
        TAKEN, _tables(cells, measured, took, COLUMNS[1:]),
        RAN, _tables(cells, measured, ran, COLUMNS), _refused(cells),
    ])  # fmt: skip


def _about(cells: Cells, measured: set[str]) -> str:
    lines = ["\n| name | is | parameters | weights |\n|---|---|--:|---|\n"]
    for name, what in [*NETWORKS.items(), *PROGRAMS.items()]:
        counts = [
            row["parameters"]
            for (each, _), row in cells.items()
            if each == name and "parameters" in row
        ]
        count = f"{counts[0]:,}" if counts else ""
        weights = TRAINED.get(name, "random" if counts and counts[0] else "")
        lines += [f"| {name} | {what} | {count} | {weights} |\n"] if name in measured else []
    return "".join(lines)


def _tables(
    cells: Cells, measured: set[str], show: Callable[[Row | None], str], columns: Sequence[Column]
) -> str:
    found = []
    kinds: tuple[tuple[str, Mapping[str, str]], ...] = (
        ("network", NETWORKS),
        ("program", PROGRAMS),
    )
    for title, models in kinds:
        names = [column.name for column in columns]
        rows = [
            [name, *(show(cells.get((name, column))) for column in names)]
            for name in models
            if name in measured
        ]
        if rows:
            head = [[title, *names], ["---", *(["--:"] * len(names))]]
            found.append("".join(f"| {' | '.join(row)} |\n" for row in head + rows))
    return "\n".join(found)


def _refused(cells: Cells) -> str:
    rows = [row for row in cells.values() if "failed" in row]
    lines = [
        f"- {row['name']}, {row['column']}: `{row['failed'].replace('`', '')}`\n" for row in rows
    ]
    return "".join([REFUSED, *lines]) if lines else ""
