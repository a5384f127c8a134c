# SPDX-License-Identifier: BSD-3-Clause
"""A network as a file for each runtime, and questions to processes that do nothing but load and run it."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.tools.bench.suite import results
from executorch.tools.bench.suite.measure import SECONDS, Engine, save
from executorch.tools.bench.suite.network import Network
from executorch.tools.bench.suite.table import chosen
from executorch.tools.measure import json_lines
from executorch.tools.measure.processes import ROOT, ahead, peer_python

OURS, UPSTREAM, RIVALS = "ours", "upstream", ("onnxruntime", "openvino")
CACHED = tuple(f"{rival}, cached" for rival in RIVALS)  # what they keep of a first load is read
Row = dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser, results: str) -> None:
    parser.add_argument("only", nargs="*", help="names or families")
    parser.add_argument("--rivals", default=os.environ.get("EXECUTORCH_RIVALS_PYTHON"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--results", type=Path, default=ROOT / "build" / results)
    parser.add_argument("--resume", action="store_true", help="leave out rows that are known")
    parser.add_argument("--page", type=Path, help="write the page")


def pythons(rivals: str | None) -> dict[str, str]:
    """The interpreter of each engine that can be asked here."""
    found = {OURS: sys.executable}
    if os.environ.get("EXECUTORCH_PEER_PYTHON"):
        found[UPSTREAM] = peer_python()
    return found | (dict.fromkeys((*RIVALS, *CACHED), rivals) if rivals else {})


def resumed(
    options: argparse.Namespace, precision: str, measured: Callable[[Network], Row]
) -> Iterator[tuple[Row, bool]]:
    """The row of each network that is wanted, and whether it is new; one that could not be made is printed."""
    known = json_lines.read(options.results, results.key)
    for network in chosen(options.only):
        key = (network.name, precision, options.threads, 1)
        is_new = not (options.resume and key in known)
        if is_new:
            try:
                known[key] = measured(network)
            except Exception as problem:
                message = f"{type(problem).__name__}: {str(problem)[:100]}"
                print(f"{network.name:18s} {message}", flush=True)
                continue
            json_lines.append(options.results, known[key])
        yield known[key], is_new


def rows(
    options: argparse.Namespace,
    ask: Callable[[Engine, list[Any]], Any],
    priority: int = 0,
    also: Sequence[str] = (),
) -> Iterator[tuple[Row, bool]]:
    """As resumed(). `ask(engine, [runtime, file, calls, limit])` gives what the row says of an engine, a new process.
    `also`: labels of ours by which it is asked again."""
    every = dict.fromkeys((OURS, *also), sys.executable) | pythons(options.rivals)
    return resumed(
        options,
        "float",
        lambda network: measured(network, every, options.threads, ask, priority),
    )


def measured(
    network: Network,
    pythons: dict[str, str],
    threads: int,
    ask: Callable[[Engine, list[Any]], Any],
    priority: int = 0,
) -> Row:
    """`pythons`: the interpreter of each engine."""
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
        files = dict.fromkeys(pythons, ours)
        if RIVALS[0] in pythons:
            converts = Engine("converts", RIVALS[0], pythons[RIVALS[0]], Path(work), threads)
            onnx = converts.convert(program, calls)
            converts.close()
            files |= dict.fromkeys((*RIVALS, *CACHED), onnx)
        row["engines"] = {}
        for label, python in pythons.items():
            runtime = label if label in (*RIVALS, *CACHED) else "executorch"
            question = [runtime, str(files[label]), str(calls), SECONDS]
            for _ in range(2 if label in CACHED else 1):  # the first makes what the second reads
                engine = Engine(label, runtime, python, Path(work), threads)
                engine.start()
                process = engine.process()
                with ahead([process.pid] if process else [], priority):
                    row["engines"][label] = ask(engine, question)
                engine.close()
    return row
