# SPDX-License-Identifier: BSD-3-Clause
"""Networks on ours, upstream and the rivals, in turns: milliseconds, ratios, a page sorted by the worst.

usage: python -m executorch.tools.bench.arena [name or family ...] [--against ENGINE ...] [--page docs/results/arena.md]
       python -m executorch.tools.bench.arena --shapes 30 [family ...] [--against upstream] [--page PAGE]

Results are kept when they are known: after an interruption the same command with --resume does the rest. ONNX Runtime
and OpenVINO run under the interpreter of --rivals (EXECUTORCH_RIVALS_PYTHON), which has torch, onnx, onnxscript,
onnxruntime and openvino; upstream under the one of EXECUTORCH_PEER_PYTHON. `transformers` is imported from here.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from executorch.tools.bench.arena import heat, page, shapes
from executorch.tools.bench.arena.measure import Engine, measure, prepare, save
from executorch.tools.bench.arena.network import Network
from executorch.tools.bench.arena.picture import svg
from executorch.tools.bench.arena.table import NETWORKS, chosen
from executorch.tools.bench.turns import ROOT, peer_python

OURS = (page.EAGER, page.PLAIN, page.OURS)
# What can compute in other precisions than float.
ABLE = {
    "int8": (page.OURS, page.UPSTREAM, "onnxruntime"),
    "bfloat16": (page.OURS, "openvino"),
}


def arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m executorch.tools.bench.arena",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("only", nargs="*", help="names or families; all unless given")
    parser.add_argument("--list", action="store_true", help="print the rows and stop")
    parser.add_argument(
        "--shapes", type=int, metavar="COUNT", help="so many drawn layers of each family instead"
    )
    parser.add_argument("--seed", type=int, default=0, help="draws other layers")
    parser.add_argument("--against", nargs="*", default=[], choices=[page.UPSTREAM, *page.RIVALS])
    parser.add_argument("--rivals", default=os.environ.get("EXECUTORCH_RIVALS_PYTHON", ""))
    parser.add_argument("--precision", choices=("float", *ABLE), default="float")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--clock",
        choices=page.CLOCKS,
        default="ms",
        help="time that passes, or that processors work: for one thread beside other work",
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--priority",
        type=int,
        default=0,
        help="real-time priority of the turns: other processes wait meanwhile (Linux, as root)",
    )
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "arena.jsonl")
    parser.add_argument("--resume", action="store_true", help="leave out rows that are known")
    parser.add_argument("--page", type=Path, help="write the page and, beside it, the picture")
    parser.add_argument("--note", default="", help="what to say on the page of the machine")
    return parser.parse_args(argv)


def command(argv: list[str]) -> str:
    """As a page shows it: what belongs to one machine or one occasion is left out."""
    left_out = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for option in ("--note", "--results", "--rivals"):
        left_out.add_argument(option)
    left_out.add_argument("--resume", action="store_true")
    _, shown = left_out.parse_known_args(argv)
    return " ".join(["python -m executorch.tools.bench.arena", *shown])


def engines(options: argparse.Namespace, folder: Path) -> list[Engine]:
    def engine(label: str, kind: str, python: str) -> Engine:
        return Engine(label, kind, python, folder, options.threads)

    found = [engine(kind, kind, sys.executable) for kind in OURS]
    for label in options.against:
        if label == page.UPSTREAM:
            found.append(engine(label, "xnnpack", peer_python()))
        elif options.rivals:
            found.append(engine(label, label, options.rivals))
        else:
            sys.exit(f"--against {label} needs --rivals PYTHON, an interpreter that has it")
    able = ABLE.get(options.precision)
    return found if able is None else [each for each in found if each.label in able]


def measured(network: Network, sides: list[Engine], options: argparse.Namespace) -> page.Row:
    row: page.Row = {"name": network.name, "family": network.family, "place": network.place}
    row |= {"precision": options.precision, "threads": options.threads, "clock": options.clock}
    with tempfile.TemporaryDirectory() as work:
        try:
            program, calls = save(network, Path(work))
        except Exception as problem:
            return {**row, "engines": {"export": {"error": f"{type(problem).__name__}: {problem}"}}}
        found = prepare(sides, program, calls, options.precision)
        measure(sides, found, options.rounds, options.priority)
        return {**row, "engines": found}


def main(argv: list[str] | None = None) -> int:
    options = arguments(argv)
    layers = shapes.drawn(options.only, options.shapes, options.seed) if options.shapes else None
    networks = layers or chosen(options.only)
    if options.list:
        print("\n".join(f"{row.name:48s} {row.family}" for row in networks))
        return 0
    known = page.read(options.results)
    wanted = {
        row.name: (row.name, options.precision, options.threads) for row in layers or NETWORKS
    }
    print(
        f"{'network':18s}" + "".join(f"{column:>12s}" for column in page.COLUMNS) + "   best  leave"
    )
    with tempfile.TemporaryDirectory() as name:
        sides = engines(options, Path(name))
        for network in networks:
            if not (options.resume and wanted[network.name] in known):
                row = measured(network, sides, options)
                page.keep(options.results, row)
                known[page.key(row)] = row
                print(page.brief(row), flush=True)
        for side in sides:
            side.close()
    if options.page:
        rows = [known[key] for key in wanted.values() if key in known]
        picture = options.page.with_suffix(".svg")
        picture.write_text(heat.svg(rows) if layers else svg(rows))
        text = heat.text if layers else page.text
        shown = command(argv or sys.argv[1:])
        options.page.write_text(text(rows, shown, options.note, picture.name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
