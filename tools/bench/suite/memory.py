# SPDX-License-Identifier: BSD-3-Clause
"""What the suite's networks take of memory, on ours and its rivals: each file loaded and run three times by a process
of its own, which has imported the engine and read the inputs before.

usage: python -m executorch.tools.bench.suite.memory [name or family ...] [--page build/pages/suite-memory.md]

`upstream` is its runtime on our file (EXECUTORCH_PEER_PYTHON); ONNX Runtime and OpenVINO run under --rivals
(EXECUTORCH_RIVALS_PYTHON). Linux alone tells such figures.
"""

from __future__ import annotations

import argparse
import sys
from datetime import date

from executorch.tools import pages
from executorch.tools.bench.figures import geometric_mean
from executorch.tools.bench.suite.files import OURS, RIVALS, UPSTREAM, Row, add_arguments, rows

MOMENTS = ("once", "thrice", "peak")
HEAD = """# Memory of networks beside their rivals

Megabytes that a process has more than before loading: after one run, after three, and at most. Float, {threads}
threads; pages of mapped files count where they are resident. `weights` are those of the model; `upstream` is its
runtime on our file. `ratio` is ours to the least of the rivals after three runs; worst first. {date}.

    {command}

"""


def ratio(row: Row, moment: str, *below: str) -> float | None:
    others = [row["engines"][label].get(moment) for label in below if label in row["engines"]]
    found = [each for each in others if each]
    mine = row["engines"][OURS].get(moment)
    return mine / min(found) if mine and found else None


def summary(measured: list[Row]) -> str:
    lines = [
        "| ratio | moment | networks | geometric mean | worst | of |",
        "|---|---|--:|--:|--:|---|",
    ]
    for label, below in (("ours / best rival", RIVALS), ("ours / upstream", (UPSTREAM,))):
        for moment in MOMENTS:
            found = {row["name"]: r for row in measured if (r := ratio(row, moment, *below))}
            if found:
                worst = max(found, key=lambda name: found[name])
                mean = geometric_mean(found.values())
                cells = [
                    label,
                    moment,
                    str(len(found)),
                    f"{mean:.2f}",
                    f"{found[worst]:.2f}",
                    worst,
                ]
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def text(measured: list[Row], command: str, threads: int) -> str:
    every = (OURS, UPSTREAM, *RIVALS)
    labels = [each for each in every if any(each in row["engines"] for row in measured)]
    heads = [f"{label}, {moment}" for label in labels for moment in MOMENTS]
    lines = ["| network | weights | file | ratio | " + " | ".join(heads) + " |"]
    lines += ["|---|" + "--:|" * (3 + len(heads))]
    for row in sorted(measured, key=lambda row: -(ratio(row, "thrice", *RIVALS) or 0)):
        cells = [row["name"], _mb(row["weights"]), _mb(row["file"])]
        found = ratio(row, "thrice", *RIVALS)
        cells.append("" if found is None else f"{found:.2f}")
        for label in labels:
            answer = row["engines"].get(label, {})
            cells += [_mb(answer[each]) if each in answer else "" for each in MOMENTS]
        lines.append(f"| {' | '.join(cells)} |")
    head = HEAD.format(threads=threads, date=date.today().isoformat(), command=command)
    return head + summary(measured) + "\n" + "\n".join(lines) + "\n"


def _mb(size: int) -> str:
    return f"{size / 1e6:.1f}"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_arguments(parser, "suite-memory.jsonl")
    options = parser.parse_args(argv)
    found = []
    for row, is_new in rows(options, lambda engine, question: engine.ask(["memory", *question])):
        found.append(row)
        if is_new:
            ratios = [ratio(row, moment, *RIVALS) for moment in MOMENTS]
            words = (f"{each:.2f}" if each else "-" for each in ratios)
            print(f"{row['name']:18s}", *words, flush=True)
    if options.page:
        shown = " ".join(["python -m executorch.tools.bench.suite.memory", *options.only])
        pages.write(options.page, text(found, shown, options.threads))
    return 0


if __name__ == "__main__":
    sys.exit(main())
