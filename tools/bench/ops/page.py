# SPDX-License-Identifier: BSD-3-Clause
"""The measurements as a page: a table of the rows, a summary of the operators."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from tools.bench import figures
from tools.bench.ops.case import MIDDLE
from tools.bench.ops.measure import Row


def geometric_mean(rows: Iterable[Row]) -> float:
    """Of the ratios of rows without a problem; 1 where there is none."""
    ratios = [row.ratio for row in rows if not row.problem]
    return figures.geometric_mean(ratios) if ratios else 1.0


def page(tables: dict[int, list[Row]], limit: float) -> str:
    """Markdown of the rows by thread count; the first column of numbers of each is ours / eager."""
    counts = sorted(tables)
    rows = [row for n in counts for row in tables[n]]
    large = [row for row in rows if not row.problem and row.elements >= MIDDLE]
    above = [row for row in large if row.ratio > limit]
    plural = ["1 thread" if n == 1 else f"{n} threads" for n in counts]
    lines = [
        "# Operators beside eager PyTorch",
        "",
        f"{date.today().isoformat()}, {figures.processor()}.",
        "Command: `python -m tools.bench.ops --write PAGE` (part of `make bench`).",
        "Times are the best of many calls in one process, the engines in turns; a ratio is our time over eager's.",
        "",
        f"{len(rows)} measurements of {len({r.op for r in rows})} operators. Geometric mean of all ratios: "
        f"{geometric_mean(rows):.2f}; of those at {MIDDLE:,} elements or more: {geometric_mean(large):.2f}.",
        f"Above {limit:g} at {MIDDLE:,} elements or more: {len(above)}.",
        "",
        "| operator | row | "
        + " | ".join(f"{p}: eager µs | ours µs | ratio" for p in plural)
        + " |",
        "|---|---|" + "---|" * 3 * len(counts),
    ]
    by_key = [{(r.op, r.label): r for r in tables[n]} for n in counts]
    for key in by_key[0]:
        cells = [_cells(table[key]) for table in by_key]
        lines.append(f"| {key[0]} | {key[1]} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> str:
    if row.problem:
        return f"{row.problem} | | "
    return f"{row.eager * 1e6:.1f} | {row.ours * 1e6:.1f} | {row.ratio:.2f}"
