# SPDX-License-Identifier: BSD-3-Clause
"""Drawn layers as a page and as heat maps, one for each family, cells coloured by the ratios that fall into them."""

from __future__ import annotations

import math
from collections import defaultdict
from datetime import date

from executorch.tools.bench.figures import geometric_mean, processor
from executorch.tools.bench.suite import page
from executorch.tools.bench.suite import ratios as of
from executorch.tools.bench.suite.picture import document, words
from executorch.tools.bench.suite.results import Row
from executorch.tools.bench.suite.shapes import WORK

LEAST_MS = 0.02  # below that, calls from Python are measured
GOOD, BAD = 1.2, 1.5
PAIRS = (("delegated / eager", of.OURS, (of.EAGER,)), *of.PAIRS[1:])
HEAD = """# Layers of drawn shapes

{count} layers of shapes that a generator drew (`tools/bench/suite/shapes.py`, the seed is in the command), each alone,
called from Python: {clock}, float32, {threads} threads, minima over turns in one run. eager is PyTorch (oneDNN, MKL),
upstream its release's XNNPACK. Layers count from {least:.0f} microseconds of the other engine on. Above {bad}: below.

{date}, {processor}. {note}

    {command}

"""

CELL, COLUMNS, ROWS, LEFT, TOP = 22, 7, 7, 34, 34
PER_LINE = 4


def ratios(rows: list[Row], above: str, below: tuple[str, ...]) -> dict[str, float]:
    return {
        row["name"]: ratio
        for row in rows
        if (ratio := of.ratio(row, above, *below))
        and min(ms for each in below if (ms := of.taken(row, each))) >= LEAST_MS
    }


def _families(rows: list[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["family"]].append(row)
    return found


def _line(name: str, rows: list[Row]) -> str:
    cells = [name]
    for _, above, below in PAIRS:
        found = list(ratios(rows, above, below).values())
        if found:
            good = sum(ratio < GOOD for ratio in found) / len(found)
            cells.append(f"{len(found)}: {geometric_mean(found):.2f}, {good:.0%}, {max(found):.2f}")
        else:
            cells.append("")
    return f"| {' | '.join(cells)} |"


def text(rows: list[Row], command: str, note: str, picture: str) -> str:
    head = HEAD.format(
        count=len(rows),
        clock=page.CLOCKS[rows[0]["clock"]].lower(),
        threads=rows[0]["threads"],
        least=LEAST_MS * 1000,
        bad=BAD,
        date=date.today().isoformat(),
        processor=processor(),
        note=note,
        command=command,
    )
    labels = " | ".join(label for label, *_ in PAIRS)
    lines = [
        f"Layers: geometric mean, share below {GOOD}, worst.",
        "",
        f"| family | {labels} |",
        "|---|" + "---|" * len(PAIRS),
        _line("all", rows),
        *(_line(name, each) for name, each in _families(rows).items()),
        "",
        f"![heat maps]({picture})",
        "",
        f"## Above {BAD}",
        "",
        f"| layer | {' | '.join(of.COLUMNS)} | ratio |",
        "|---|" + "--:|" * len(of.COLUMNS) + "---|",
        *_bad(rows),
    ]
    return head + "\n".join(lines) + "\n"


def _bad(rows: list[Row]) -> list[str]:
    by_name = {row["name"]: row for row in rows}
    found = [
        (ratio, label, name)
        for label, above, below in PAIRS
        for name, ratio in ratios(rows, above, below).items()
        if ratio > BAD
    ]
    lines = []
    for ratio, label, name in sorted(found, reverse=True):
        times = [of.taken(by_name[name], engine) for engine in of.COLUMNS]
        cells = ["" if ms is None else f"{ms:.3f}" for ms in times]
        lines.append(f"| {name} | {' | '.join(cells)} | {label} {ratio:.2f} |")
    return lines


def _place(row: Row) -> tuple[int, int]:
    """Column by work, row by width: each four times as much as the one before."""
    width, work = row["place"]
    column = int((math.log2(work) - math.log2(WORK[0])) / 2)
    return min(column, COLUMNS - 1), min(int(math.log2(width) / 2), ROWS - 1)


def _colour(ratio: float) -> str:
    """Green to 0.5, white at 1, red from 2 on."""
    strength = min(1.0, abs(math.log2(ratio)))
    faded = round(255 * (1 - 0.8 * strength))
    return f"rgb({faded},255,{faded})" if ratio < 1 else f"rgb(255,{faded},{faded})"


def svg(rows: list[Row]) -> str:
    """Of ours with the delegate to the faster of eager and upstream."""
    maps = _families(rows)
    wide, high = LEFT + COLUMNS * CELL + 20, TOP + ROWS * CELL + 14
    width, height = PER_LINE * wide, math.ceil(len(maps) / PER_LINE) * high
    parts: list[str] = []
    for number, (family, each) in enumerate(maps.items()):
        left, top = number % PER_LINE * wide + LEFT, number // PER_LINE * high + TOP
        parts.append(words(left, top - 14, family, font_weight="bold"))
        parts.append(words(left, top - 4, "work from 2^16 to 2^29, width down", fill="#888"))
        cells: dict[tuple[int, int], list[float]] = defaultdict(list)
        found = ratios(each, of.OURS, (of.EAGER, of.UPSTREAM))
        for row in each:
            if row["name"] in found:
                cells[_place(row)].append(found[row["name"]])
        for (column, line), values in cells.items():
            x, y, mean = left + column * CELL, top + line * CELL, geometric_mean(values)
            box = f'x="{x}" y="{y}" width="{CELL - 1}" height="{CELL - 1}"'
            title = f"<title>{len(values)} layers, worst {max(values):.2f}</title>"
            parts.append(f'<rect {box} fill="{_colour(mean)}" stroke="#ccc">{title}</rect>')
            parts.append(words(x + 2, y + 14, f"{mean:.1f}"))
        for line in range(ROWS):
            parts.append(words(left - 4, top + line * CELL + 14, f"{4**line}", text_anchor="end"))
    return document(width, height, parts, font_size=9)
