# SPDX-License-Identifier: BSD-3-Clause
"""Results as JSON lines (the newest of a cell counts) and as the page docs/results/zoo.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from executorch.tools.measure import json_lines
from executorch.tools.zoo.models import NETWORKS, PROGRAMS, WAYS

Row = dict[str, Any]
Cells = dict[tuple[str, str], Row]

HEAD = """# Models by name

What `executorch export NAME --backend BACKEND [--quantize int8]` makes of each model that has a name
(`executorch export --list`).
Nothing is downloaded. Written by

    python -m executorch.tools.zoo --page docs/results/zoo.md

"""


def read(path: Path) -> Cells:
    return json_lines.read(path, lambda row: (row["name"], row["way"]))


def line(row: Row) -> str:
    """For a terminal."""
    return f"{row['name']}, {row['way']}: {took(row)}; {ran(row) or 'does not run here'}"


def took(row: Row | None) -> str:
    """How many calls the backend has."""
    if row is None:
        return ""
    if "failed" in row:
        return "refused"
    all_ = row["taken"] + row["left"]
    return f"all {all_}" if not row["left"] else f"{row['taken']} of {all_}"


def ran(row: Row | None) -> str:
    """Size, error, time."""
    if row is None or "error" not in row:
        return ""
    return f"{size(row['bytes'])}, {row['error']:.0e}, {milliseconds(row['ms'])}"


def size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"


def milliseconds(value: float) -> str:
    return f"{value:.{max(0, 2 - len(str(int(value))) + 1)}f} ms"


def text(cells: Cells) -> str:
    parts = [HEAD, "## What backends take\n\n", *_of(cells, took, WAYS[1:])]
    parts += ["\n## Size, accuracy and time\n\n", *_of(cells, ran, _that_ran(cells))]
    return "".join(parts)


def _that_ran(cells: Cells) -> list[Any]:
    return [way for way in WAYS if any(ran(cells.get((name, way.name))) for name, _ in cells)]


def _of(cells: Cells, show: Any, ways: list[Any]) -> list[str]:
    found = []
    for title, models in (("network", NETWORKS), ("program", PROGRAMS)):
        found.append(
            f"| {title} | {' | '.join(way.name for way in ways)} |\n|---|{'--:|' * len(ways)}\n"
        )
        for name in models:
            row = [show(cells.get((name, way.name))) for way in ways]
            found.append(f"| {name} | {' | '.join(row)} |\n")
        found.append("\n")
    return found
