# SPDX-License-Identifier: BSD-3-Clause
"""How far networks in int8 are from eager in float, on ours and upstream: calibrated on one input, asked on others.

usage: python -m executorch.tools.bench.suite.accuracy [name or family ...] [--inputs 8]
           [--page build/pages/suite-accuracy.md]

example: python -m executorch.tools.bench.suite.accuracy siglip "vision transformer" --inputs 16

One input's error is partly chance: the networks' weights are random, and what a rounding does to one output it does not
do to the next. `upstream` is its wheel (EXECUTORCH_PEER_PYTHON) from quantizing to running; ONNX Runtime runs under
--rivals (EXECUTORCH_RIVALS_PYTHON). Results are kept when they are known; --resume does the rest.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

from executorch.tools import pages
from executorch.tools.bench.figures import geometric_mean
from executorch.tools.bench.suite import page, ratios
from executorch.tools.bench.suite.files import OURS, UPSTREAM, Row, add_arguments, pythons, resumed
from executorch.tools.bench.suite.measure import Engine, save
from executorch.tools.bench.suite.network import Network
from executorch.tools.bench.suite.picture import document, legend, words

PRECISION = "int8"
KINDS = {OURS: ratios.OURS, UPSTREAM: ratios.OURS, "onnxruntime": "onnxruntime"}
COLOURS = {UPSTREAM: "#26c", "onnxruntime": "#2a2"}
SIZE, LEFT, TOP = 420, 60, 26
TICKS = (0.01, 0.1, 1.0)
HEAD = """# Accuracy in int8 beside upstream

||found - eager|| / ||eager|| in float of the worst output, as the root of the mean square over {inputs} drawn inputs;
one more has calibrated. Static, symmetric, weights per channel; weights of the networks are random. The ratio is ours
to upstream's, worst first; without one: upstream refuses, or an error is all. {date}. {note}

    {command}

"""


def engines_for(rivals: str | None, folder: Path, threads: int) -> list[Engine]:
    every = pythons(rivals)
    return [
        Engine(label, kind, every[label], folder, threads)
        for label, kind in KINDS.items()
        if label in every
    ]


def measured(network: Network, engines: list[Engine], inputs: int, threads: int) -> Row:
    """All engines at once: nothing here is timed."""
    row: Row = {"name": network.name, "precision": PRECISION, "threads": threads, "inputs": inputs}
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor() as pool:
        program, calls = save(network, Path(work), inputs)
        answers = pool.map(lambda engine: engine.accuracy(PRECISION, program, calls), engines)
        row["engines"] = {engine.label: answer for engine, answer in zip(engines, answers)}
    return row


def error(row: Row, label: str) -> float | None:
    """Over all inputs; None where the engine was not asked or could not."""
    found = row["engines"].get(label, {}).get("differences")
    return math.sqrt(sum(each * each for each in found) / len(found)) if found else None


def ratio(row: Row, label: str) -> float | None:
    """Ours to that of another; None where one of the two is nothing or all, which says nothing of the other."""
    mine, theirs = error(row, OURS), error(row, label)
    if not (mine and theirs and max(mine, theirs) < 1.0):
        return None
    return mine / theirs


def by_worst(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: ratio(row, UPSTREAM) or 0.0, reverse=True)


def summary(rows: list[Row]) -> str:
    lines = ["| ratio | networks | geometric mean | worst | of |", "|---|--:|--:|--:|---|"]
    for label in COLOURS:
        found = {row["name"]: each for row in rows if (each := ratio(row, label))}
        if found:
            worst = max(found, key=lambda name: found[name])
            mean = geometric_mean(found.values())
            cells = [
                f"ours / {label}",
                str(len(found)),
                f"{mean:.2f}",
                f"{found[worst]:.2f}",
                worst,
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def table(rows: list[Row]) -> str:
    labels = [each for each in KINDS if any(each in row["engines"] for row in rows)]
    lines = [f"| network | {' | '.join(labels)} | ratio |", "|---|" + "--:|" * (len(labels) + 1)]
    for row in by_worst(rows):
        cells = ["" if (e := error(row, label)) is None else f"{e:.3g}" for label in labels]
        found = ratio(row, UPSTREAM)
        cells.append("" if found is None else f"{found:.2f}")
        lines.append(f"| {row['name']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _at(value: float) -> float:
    """On an axis, from its beginning, both of which are logarithmic."""
    low, high = math.log(TICKS[0] / 2), math.log(TICKS[-1])
    inside = min(max(math.log(value), low), high)
    return (SIZE - LEFT) * (inside - low) / (high - low)


def svg(rows: list[Row]) -> str:
    """A dot a network: the other's error across, ours upward."""
    low = SIZE - LEFT + TOP
    parts = legend(COLOURS, LEFT, 120)
    for tick in TICKS:
        x, y = LEFT + _at(tick), low - _at(tick)
        parts.append(f'<line x1="{x:.0f}" y1="{TOP}" x2="{x:.0f}" y2="{low}" stroke="#ccc"/>')
        parts.append(f'<line x1="{LEFT}" y1="{y:.0f}" x2="{SIZE}" y2="{y:.0f}" stroke="#ccc"/>')
        parts.append(words(x, low + 14, f"{tick:g}", text_anchor="middle"))
        parts.append(words(LEFT - 6, y + 3, f"{tick:g}", text_anchor="end"))
    parts.append(f'<line x1="{LEFT}" y1="{low}" x2="{SIZE}" y2="{TOP}" stroke="#000"/>')
    parts.append(words(SIZE, low + 28, "theirs", text_anchor="end"))
    parts.append(words(6, TOP + 10, "ours"))
    for row in rows:
        for label, colour in COLOURS.items():
            mine, theirs = error(row, OURS), error(row, label)
            if mine and theirs:
                place = f'cx="{LEFT + _at(theirs):.1f}" cy="{low - _at(mine):.1f}"'
                title = f"<title>{row['name']} {mine:.4f}, {label} {theirs:.4f}</title>"
                parts.append(f'<circle {place} r="4" fill="{colour}">{title}</circle>')
    return document(SIZE + 10, low + 36, parts)


def text(rows: list[Row], command: str, note: str, picture: str) -> str:
    counts = sorted({row["inputs"] for row in rows})
    inputs = " or ".join(map(str, counts))
    head = HEAD.format(inputs=inputs, date=date.today().isoformat(), note=note, command=command)
    return f"{head}{summary(rows)}\n![errors]({picture})\n\n{table(rows)}"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m executorch.tools.bench.suite.accuracy",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser, "suite-accuracy.jsonl")
    parser.add_argument("--inputs", type=int, default=8, help="beside the one that calibrates")
    parser.add_argument("--note", default="", help="what to say on the page of this run")
    options = parser.parse_args(argv)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        engines = engines_for(options.rivals, Path(name), options.threads)

        def measure(network: Network) -> Row:
            return measured(network, engines, options.inputs, options.threads)

        for row, is_new in resumed(options, PRECISION, measure):
            rows.append(row)
            if is_new:
                print(table([row]).splitlines()[-1], *page.problems([row]), sep="\n", flush=True)
        for engine in engines:
            engine.close()
    print(summary(rows))
    if options.page:
        picture = options.page.with_suffix(".svg")
        pages.write(picture, svg(rows))
        shown = [parser.prog, *options.only, "--inputs", str(options.inputs)]
        shown += ["--page", "build/pages/suite-accuracy.md"]
        pages.write(options.page, text(rows, " ".join(shown), options.note, picture.name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
