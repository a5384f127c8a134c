# SPDX-License-Identifier: BSD-3-Clause
"""How long a network takes from its first run to its hundredth, on ours and its rivals: each by a process of its own,
which loads the file and runs it at once.

usage: python -m executorch.tools.bench.suite.latency [name or family ...] [--priority 10]
           [--page build/pages/suite-latency.md]

`packs at load` is ours with XNNPACK's option pack_at_load; `cached` are rivals that read what they kept of an earlier
load (OpenVINO's cache of models, ONNX Runtime's optimized graph). `upstream` is its runtime on our file
(EXECUTORCH_PEER_PYTHON); ONNX Runtime and OpenVINO run under --rivals (EXECUTORCH_RIVALS_PYTHON).
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from datetime import date
from typing import Any

from executorch.tools import pages
from executorch.tools.bench.figures import processor
from executorch.tools.bench.suite.files import (
    CACHED,
    OURS,
    RIVALS,
    UPSTREAM,
    Row,
    add_arguments,
    rows,
)
from executorch.tools.bench.suite.measure import Engine
from executorch.tools.bench.suite.picture import document, legend, words

RUNS, SETTLED = 100, 10
PACKS = "packs at load"
COLOURS = dict(
    zip(
        (OURS, PACKS, UPSTREAM, *RIVALS, *CACHED),
        ("#c22", "#e90", "#26c", "#2a2", "#999", "#6d6", "#ccc"),
    )
)
WIDTH, HEIGHT, LEFT, TOP = 320, 150, 44, 22
HEAD = """# From the first run to the hundredth

Milliseconds of loading a file and of its runs, one after another, in a process that does nothing else. `median` and
`worst` are of runs {first} to {last}. Float, {threads} threads. {date}, {processor}.

    {command}

![latencies]({picture})

"""


def asked(engine: Engine, question: list[Any]) -> dict[str, Any]:
    option = {"pack_at_load": True} if engine.label == PACKS else {}
    return engine.ask(["latency", *question, RUNS, option])


def series(row: Row) -> dict[str, dict[str, Any]]:
    """By engine; those that could not are left out."""
    every = row["engines"]
    return {name: every[name] for name in COLOURS if "runs" in every.get(name, {})}


def chart(row: Row, x: float, y: float) -> list[str]:
    """Runs on a logarithmic scale of the milliseconds that there are."""
    found = series(row)
    every = [taken for each in found.values() for taken in each["runs"]]
    low, high = math.log(min(every)), math.log(max(every)) + 1e-9
    right, bottom = x + WIDTH - 10, y + HEIGHT - 10

    def at(number: int, taken: float) -> str:
        across = x + LEFT + (right - x - LEFT) * math.log(number) / math.log(RUNS)
        up = bottom - (bottom - y - TOP) * (math.log(taken) - low) / (high - low)
        return f"{across:.1f},{up:.1f}"

    parts = [words(x + LEFT, y + 12, row["name"], font_weight="bold")]
    for taken, place in ((min(every), bottom), (max(every), y + TOP)):
        parts.append(words(x + LEFT - 4, place + 3, f"{taken:.3g}", text_anchor="end"))
    for name, each in found.items():
        points = " ".join(at(i, taken) for i, taken in enumerate(each["runs"], 1))
        line = f'<polyline points="{points}" fill="none" stroke="{COLOURS[name]}"'
        parts.append(f'{line} stroke-width="1.3"><title>{name}</title></polyline>')
    return parts


def svg(measured: list[Row]) -> str:
    width, height = 2 * WIDTH, 24 + HEIGHT * math.ceil(len(measured) / 2)
    parts = legend(COLOURS, LEFT, 110)
    for number, row in enumerate(measured):
        parts += chart(row, number % 2 * WIDTH, 20 + number // 2 * HEIGHT)
    return document(width, height, parts)


def table(measured: list[Row]) -> str:
    lines = [
        "| network | engine | load | first run | second | third | median | worst |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for row in measured:
        for name, each in series(row).items():
            later = each["runs"][SETTLED:]
            times = [each["load"], *each["runs"][:3], statistics.median(later), max(later)]
            cells = " | ".join(f"{ms:.2f}" for ms in times)
            lines.append(f"| {row['name']} | {name} | {cells} |")
    return "\n".join(lines) + "\n"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m executorch.tools.bench.suite.latency",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser, "suite-latency.jsonl")
    parser.add_argument("--priority", type=int, default=0, help="as of the suite")
    options = parser.parse_args(argv)
    measured = []
    for row, is_new in rows(options, asked, options.priority, [PACKS]):
        measured.append(row)
        if is_new:
            print(table([row]), flush=True)
    if options.page:
        picture = options.page.with_suffix(".svg")
        pages.write(picture, svg(measured))
        command = [parser.prog, *options.only, "--page build/pages/suite-latency.md"]
        head = HEAD.format(
            first=SETTLED + 1,
            last=RUNS,
            threads=options.threads,
            date=date.today().isoformat(),
            processor=processor(),
            command=" ".join(command),
            picture=picture.name,
        )
        pages.write(options.page, head + table(measured))
    return 0


if __name__ == "__main__":
    sys.exit(main())
