# SPDX-License-Identifier: BSD-3-Clause
"""What the arena's networks take of memory, on ours and its rivals: each file loaded and run three times by a process
of its own, which has imported the engine and read the inputs before.

usage: python -m executorch.tools.bench.arena.memory [name or family ...] [--page docs/results/arena-memory.md]

`upstream` is its runtime on our file (EXECUTORCH_PEER_PYTHON); ONNX Runtime and OpenVINO run under --rivals
(EXECUTORCH_RIVALS_PYTHON). Linux alone tells such figures.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

import torch

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.tools.bench.arena import page
from executorch.tools.bench.arena.measure import SECONDS, Engine, save
from executorch.tools.bench.arena.network import Network
from executorch.tools.bench.arena.table import chosen
from executorch.tools.bench.figures import geometric_mean
from executorch.tools.bench.turns import ROOT, peer_python

OURS, UPSTREAM, RIVALS = "ours", "upstream", ("onnxruntime", "openvino")
MOMENTS = ("once", "thrice", "peak")
HEAD = """# Memory of networks beside their rivals

Megabytes that a process has more than before loading: after one run, after three, and at most. Float, {threads}
threads; pages of mapped files count where they are resident. `weights` are those of the model; `upstream` is its
runtime on our file. `ratio` is ours to the least of the rivals after three runs; worst first. {date}.

    {command}

"""
Row = dict[str, Any]


def measured(network: Network, pythons: dict[str, str], threads: int) -> Row:
    row: Row = {"name": network.name, "precision": "float", "threads": threads}
    with tempfile.TemporaryDirectory() as work:
        program, calls = save(network, Path(work))
        exported = torch.export.load(program)
        row["weights"] = sum(each.nbytes for each in exported.state_dict.values())
        ours = Path(work, "model.pte")
        lowered = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
        ours.write_bytes(lowered.to_executorch().buffer)
        del exported, lowered
        row["file"] = ours.stat().st_size
        files = dict.fromkeys((OURS, UPSTREAM), ours)
        if RIVALS[0] in pythons:
            converts = Engine("converts", RIVALS[0], pythons[RIVALS[0]], Path(work), threads)
            converts.prepare("float", program, calls)  # writes the ONNX file that both read
            converts.close()
            files |= dict.fromkeys(RIVALS, Path(f"{program}.onnx"))
        row["engines"] = {}
        for label, python in pythons.items():
            runtime = label if label in RIVALS else "executorch"
            engine = Engine(label, runtime, python, Path(work), threads)
            question = ["memory", runtime, str(files[label]), str(calls), SECONDS]
            row["engines"][label] = engine.ask(question)
            engine.close()
    return row


def ratio(row: Row, moment: str, *below: str) -> float | None:
    others = [row["engines"][label].get(moment) for label in below if label in row["engines"]]
    found = [each for each in others if each]
    mine = row["engines"][OURS].get(moment)
    return mine / min(found) if mine and found else None


def summary(rows: list[Row]) -> str:
    lines = [
        "| ratio | moment | networks | geometric mean | worst | of |",
        "|---|---|--:|--:|--:|---|",
    ]
    for label, below in (("ours / best rival", RIVALS), ("ours / upstream", (UPSTREAM,))):
        for moment in MOMENTS:
            found = {row["name"]: r for row in rows if (r := ratio(row, moment, *below))}
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


def text(rows: list[Row], command: str, threads: int) -> str:
    labels = [each for each in (OURS, UPSTREAM, *RIVALS) if any(each in r["engines"] for r in rows)]
    heads = [f"{label}, {moment}" for label in labels for moment in MOMENTS]
    lines = ["| network | weights | file | ratio | " + " | ".join(heads) + " |"]
    lines += ["|---|" + "--:|" * (3 + len(heads))]
    for row in sorted(rows, key=lambda row: -(ratio(row, "thrice", *RIVALS) or 0)):
        cells = [row["name"], _mb(row["weights"]), _mb(row["file"])]
        found = ratio(row, "thrice", *RIVALS)
        cells.append("" if found is None else f"{found:.2f}")
        for label in labels:
            answer = row["engines"].get(label, {})
            cells += [_mb(answer[each]) if each in answer else "" for each in MOMENTS]
        lines.append(f"| {' | '.join(cells)} |")
    head = HEAD.format(threads=threads, date=date.today().isoformat(), command=command)
    return head + summary(rows) + "\n" + "\n".join(lines) + "\n"


def _mb(size: int) -> str:
    return f"{size / 1e6:.1f}"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("only", nargs="*", help="names or families; all unless given")
    parser.add_argument("--rivals", default=os.environ.get("EXECUTORCH_RIVALS_PYTHON"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "arena-memory.jsonl")
    parser.add_argument("--resume", action="store_true", help="leave out rows that are known")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args(argv)
    pythons = {OURS: sys.executable}
    if os.environ.get("EXECUTORCH_PEER_PYTHON"):
        pythons[UPSTREAM] = peer_python()
    if options.rivals:
        pythons |= dict.fromkeys(RIVALS, options.rivals)
    networks = chosen(options.only)
    wanted = [(each.name, "float", options.threads) for each in networks]
    known = page.read(options.results)
    for network, key in zip(networks, wanted):
        if options.resume and key in known:
            continue
        try:
            known[key] = measured(network, pythons, options.threads)
        except Exception as problem:
            print(f"{network.name:18s} {type(problem).__name__}: {str(problem)[:100]}", flush=True)
            continue
        page.keep(options.results, known[key])
        found = [ratio(known[key], moment, *RIVALS) for moment in MOMENTS]
        print(
            f"{network.name:18s}", *(f"{each:.2f}" if each else "-" for each in found), flush=True
        )
    if options.page:
        rows = [known[key] for key in wanted if key in known]
        shown = " ".join(["python -m executorch.tools.bench.arena.memory", *options.only])
        options.page.write_text(text(rows, shown, options.threads))
    return 0


if __name__ == "__main__":
    sys.exit(main())
