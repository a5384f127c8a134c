# SPDX-License-Identifier: BSD-3-Clause
"""Networks on ours, upstream and the rivals, in turns: milliseconds, ratios, a page sorted by the worst. A page is of
one run and one commit; of its worst networks --repeat many are measured again at the end, so that their spread is
known.

usage: python -m executorch.tools.bench.suite [name or family ...] [--against ENGINE ...] [--page build/pages/suite.md]
       python -m executorch.tools.bench.suite --shapes 30 [family ...] [--against upstream] [--page PAGE]

Results are kept when they are known: after an interruption the same command with --resume does the rest. ONNX Runtime
and OpenVINO run under the interpreter of --rivals (EXECUTORCH_RIVALS_PYTHON), which has torch, onnx, onnxscript,
onnxruntime, openvino and nncf; upstream under the one of EXECUTORCH_PEER_PYTHON. `transformers` is imported from here.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
from pathlib import Path

import torch

from executorch.backends.discovery import backends
from executorch.tools import pages
from executorch.tools.bench.suite import heat, page, ratios, results, shapes
from executorch.tools.bench.suite.measure import Engine, measure, prepare, save
from executorch.tools.bench.suite.network import Network
from executorch.tools.bench.suite.picture import svg
from executorch.tools.bench.suite.table import chosen
from executorch.tools.measure import json_lines
from executorch.tools.measure.processes import ROOT, peer_python

OURS = (ratios.EAGER, ratios.PLAIN, ratios.OURS)
QUANTIZED = (ratios.OURS, ratios.UPSTREAM, *ratios.RIVALS)
# What can compute in other precisions than those of the program.
ABLE = {"int8": QUANTIZED, "dynamic": QUANTIZED, "bfloat16": (ratios.OURS, "openvino")}


def arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m executorch.tools.bench.suite",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("only", nargs="*", help="names or families; all unless given")
    parser.add_argument("--list", action="store_true", help="print the rows and stop")
    parser.add_argument(
        "--shapes", type=int, metavar="COUNT", help="so many drawn layers of each family instead"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="draws other layers, and other orders of engines"
    )
    parser.add_argument(
        "--against", nargs="*", default=[], choices=[ratios.UPSTREAM, *ratios.RIVALS]
    )
    parser.add_argument(
        "--delegates",
        nargs="*",
        default=[],
        choices=[
            name for name, each in backends().items() if each.recipes and not each.why_absent()
        ],
        help="our backends that also run",
    )
    parser.add_argument("--rivals", default=os.environ.get("EXECUTORCH_RIVALS_PYTHON", ""))
    parser.add_argument("--precision", choices=("float", "float16", *ABLE), default="float")
    parser.add_argument("--batch", type=int, default=1, help="inputs stand so many times in each")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--clock",
        choices=page.CLOCKS,
        default="ms",
        help="time that passes, or that processors work: for one thread beside other work",
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--repeat", type=int, default=0, help="measure so many of the worst networks again"
    )
    parser.add_argument(
        "--priority",
        type=int,
        default=0,
        help="real-time priority of the turns: other processes wait meanwhile (Linux, as root)",
    )
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "suite.jsonl")
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
    return f"python -m executorch.tools.bench.suite {shlex.join(shown)}"


def engines_for(options: argparse.Namespace, folder: Path) -> list[Engine]:
    def engine(label: str, kind: str, python: str) -> Engine:
        return Engine(label, kind, python, folder, options.threads)

    found = [engine(kind, kind, sys.executable) for kind in OURS]
    for label in options.against:
        if label == ratios.UPSTREAM:
            found.append(engine(label, "xnnpack", peer_python()))
        elif options.rivals:
            found.append(engine(label, label, options.rivals))
        else:
            sys.exit(f"--against {label} needs --rivals PYTHON, an interpreter that has it")
    able = ABLE.get(options.precision)
    found = found if able is None else [each for each in found if each.label in able]
    others = [f"{name}{ratios.DELEGATE}" for name in options.delegates]
    return found + [engine(label, label, sys.executable) for label in others]


def measured(network: Network, engines: list[Engine], options: argparse.Namespace) -> results.Row:
    row: results.Row = {
        "name": network.name,
        "family": network.family,
        "place": network.place,
        "cut": network.cut(),
        "precision": options.precision,
        "threads": options.threads,
        "batch": options.batch,
        "clock": options.clock,
    }
    dtype = torch.float16 if options.precision == "float16" else None
    with tempfile.TemporaryDirectory() as work:
        try:
            program, calls = save(network, Path(work), batch=options.batch, dtype=dtype)
        except Exception as problem:
            return {**row, "engines": {"export": {"error": f"{type(problem).__name__}: {problem}"}}}
        found = prepare(engines, program, calls, options.precision)
        measure(engines, found, options.rounds, options.priority, options.seed)
        return {**row, "engines": found}


def measure_all(
    networks: list[Network], options: argparse.Namespace, known: dict[results.Key, results.Row]
) -> list[results.Row]:
    """The rows of `networks`; those that are known already stay when the run is resumed."""
    run = results.run_name(known, options.resume)
    rows: list[results.Row] = []

    def keep(row: results.Row) -> None:
        json_lines.append(options.results, row)
        print(page.brief(row), flush=True)

    with tempfile.TemporaryDirectory() as name:
        engines = engines_for(options, Path(name))
        for network in networks:
            place = (network.name, options.precision, options.threads, options.batch)
            if not (options.resume and place in known):
                known[place] = measured(network, engines, options) | run
                keep(known[place])
            rows.append(known[place])
        by_name = {network.name: network for network in networks}
        for row in ratios.by_worst(rows)[: options.repeat]:
            if "again" not in row:
                row["again"] = measured(by_name[row["name"]], engines, options)["engines"]
                keep(row)
        for engine in engines:
            engine.close()
    return rows


def main(argv: list[str] | None = None) -> int:
    options = arguments(argv)
    layers = shapes.drawn(options.only, options.shapes, options.seed) if options.shapes else None
    networks = layers or chosen(options.only)
    if options.list:
        print("\n".join(f"{row.name:48s} {row.family}" for row in networks))
        return 0
    others = (f"{name}{ratios.DELEGATE}" for name in options.delegates)
    print(page.head((*ratios.COLUMNS, *others)))
    rows = measure_all(networks, options, json_lines.read(options.results, results.key))
    if options.page:
        picture = options.page.with_suffix(".svg")
        pages.write(picture, heat.svg(rows) if layers else svg(rows))
        text = heat.text if layers else page.text
        shown = command(argv or sys.argv[1:])
        pages.write(options.page, text(rows, shown, options.note, picture.name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
