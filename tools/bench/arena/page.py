# SPDX-License-Identifier: BSD-3-Clause
"""Results as JSON lines (the newest of a row counts), as a page sorted by the worst ratio, and as its picture."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

from executorch.tools.bench.figures import geometric_mean, processor

Row = dict[str, Any]
OURS, PLAIN, EAGER, UPSTREAM = "xnnpack", "kernels", "eager", "upstream"
RIVALS = ("onnxruntime", "openvino")
CLOCKS = {
    "ms": "Milliseconds that pass in one run",
    "busy": "Milliseconds of processors in one run",
}
COLUMNS = (OURS, PLAIN, UPSTREAM, *RIVALS, EAGER)
HEAD = """# Networks beside their rivals

{clock}, {precision}, {threads}: minima over turns in one run of the command. Weights are random, widths and
sizes are the published ones, transformers have their first layers. `xnnpack` and `kernels` are ours with the delegate
and without; `best` is the ratio of ours with the delegate to the best of {rivals}, `leave` its ratio
to ours without. Worst first.

{date}, {processor}. {note}

    {command}

"""


def key(row: Row) -> tuple[str, str, int]:
    return row["name"], row["precision"], row["threads"]


def keep(path: Path, row: Row) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(row) + "\n")


def read(path: Path) -> dict[tuple[str, str, int], Row]:
    lines = path.read_text().splitlines() if path.exists() else []
    return {key(row): row for row in map(json.loads, lines)}


def taken(row: Row, engine: str) -> float | None:
    """Milliseconds by the row's clock; None where the engine was not asked or could not."""
    answer = row["engines"].get(engine, {})
    return None if "error" in answer else answer.get(row["clock"])


def ratio(row: Row, above: str, *below: str) -> float | None:
    """Of one engine to the fastest of others."""
    others = [ms for engine in below if (ms := taken(row, engine))]
    mine = taken(row, above)
    return mine / min(others) if mine and others else None


PAIRS = (
    ("ours / best rival", OURS, RIVALS),
    ("ours / upstream", OURS, (UPSTREAM,)),
    ("delegated / not", OURS, (PLAIN,)),
    ("not delegated / eager", PLAIN, (EAGER,)),
)


def off(row: Row, engine: str) -> float | None:
    """How far from eager in float; None where that is nothing, or all."""
    found = row["engines"].get(engine, {}).get("difference", 0.0)
    return found if 0.0 < found < 1.0 else None


def difference(row: Row, engine: str) -> float | None:
    """Ours to that of another engine."""
    mine, theirs = off(row, OURS), off(row, engine)
    return mine / theirs if mine and theirs else None


def summary(rows: list[Row]) -> str:
    ratios = {
        label: {row["name"]: r for row in rows if (r := ratio(row, above, *below))}
        for label, above, below in PAIRS
    }
    if any(row["precision"] != "float" for row in rows):
        ratios |= {
            f"difference to eager, ours / {engine}": {
                row["name"]: r for row in rows if (r := difference(row, engine))
            }
            for engine in (UPSTREAM, *RIVALS)
        }
    lines = ["| ratio | networks | geometric mean | worst | of |", "|---|--:|--:|--:|---|"]
    for label, found in ratios.items():
        if found:
            worst = max(found, key=lambda name: found[name])
            mean = geometric_mean(found.values())
            lines.append(f"| {label} | {len(found)} | {mean:.2f} | {found[worst]:.2f} | {worst} |")
    return "\n".join(lines) + "\n"


def by_worst(rows: list[Row]) -> list[Row]:
    def worst(row: Row) -> float:
        return ratio(row, OURS, *RIVALS) or ratio(row, OURS, PLAIN, EAGER) or 0.0

    return sorted(rows, key=worst, reverse=True)


def line(row: Row) -> str:
    times = [taken(row, engine) for engine in COLUMNS]
    ratios = [ratio(row, OURS, *RIVALS), ratio(row, OURS, PLAIN)]
    cells = ["" if ms is None else f"{ms:.2f}" for ms in [*times, *ratios]]
    return f"| {row['name']} | {row['family']} | {' | '.join(cells)} |"


def brief(row: Row) -> str:
    """A row for the terminal, and what went wrong."""
    times = [taken(row, engine) for engine in COLUMNS]
    ratios = [ratio(row, OURS, *RIVALS), ratio(row, OURS, PLAIN)]
    words = f"{row['name']:18s}" + "".join(f"{ms:12.2f}" if ms else " " * 12 for ms in times)
    words += "".join(f"{each:7.2f}" if each else " " * 7 for each in ratios)
    return "\n".join([words, *(f"    {problem}" for problem in problems([row]))])


def problems(rows: list[Row]) -> list[str]:
    """Engines that refused a network, each with the first line of what it said."""
    return [
        f"| {row['name']} | {engine} | {' '.join(answer['error'].split())[:160].replace('|', '/')} |"
        for row in rows
        for engine, answer in row["engines"].items()
        if "error" in answer
    ]


def text(rows: list[Row], command: str, note: str, picture: str) -> str:
    precision, threads = rows[0]["precision"], rows[0]["threads"]
    head = HEAD.format(
        clock=CLOCKS[rows[0]["clock"]],
        precision={"float": "float32", "int8": "8 bits"}.get(precision, precision),
        threads="1 thread" if threads == 1 else f"{threads} threads",
        rivals=" and ".join(RIVALS),
        date=date.today().isoformat(),
        processor=processor(),
        note=note,
        command=command,
    )
    columns = f"| network | family | {' | '.join(COLUMNS)} | best | leave |\n"
    table = columns + "|---|---|" + "--:|" * (len(COLUMNS) + 2) + "\n"
    table += "\n".join(map(line, by_worst(rows))) + "\n"
    refused = problems(rows)
    if refused:
        refused = [
            "",
            "## Refused",
            "",
            "| network | engine | what it said |",
            "|---|---|---|",
            *refused,
            "",
        ]
    return f"{head}{summary(rows)}\n![ratios]({picture})\n\n{table}" + "\n".join(refused)
