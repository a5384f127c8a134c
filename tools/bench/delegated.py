# SPDX-License-Identifier: BSD-3-Clause
"""Milliseconds to load, to run first, to run again and then on, of networks delegated to XNNPACK, ours and upstream's.

usage: python -m executorch.tools.bench.delegated [model ...] [--repeats 5] [--threads 2]

Upstream runs in its own environment: EXECUTORCH_PEER_PYTHON, else build/peer (test/interop/make_peer.sh).
Each engine lowers the same exported program and runs the file that it made. Every measurement is a process of its own,
the engines in turns; medians count. "start" is loading and the first run together; ours packs matrices in the second.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import torch

from executorch.examples.models import NETWORKS, make_example
from executorch.tools.measure.processes import Worker, peer_python

LOWER = """
import json, logging, sys, warnings
warnings.filterwarnings("ignore"); logging.disable(logging.WARNING)
import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
for line in sys.stdin:
    program, path = json.loads(line)
    edge = to_edge_transform_and_lower(torch.export.load(program), partitioner=[XnnpackPartitioner()])
    with open(path, "wb") as file:
        edge.to_executorch().write_to_file(file)
    print("RESULT null", flush=True)
"""
RUN = """
import json, logging, sys, time, warnings
warnings.filterwarnings("ignore"); logging.disable(logging.WARNING)
import torch
from executorch.runtime import Runtime
for line in sys.stdin:
    path, inputs, runs, threads = json.loads(line)
    torch.set_num_threads(threads)
    inputs = torch.load(inputs, weights_only=True)
    runtime = Runtime.get()
    times = [time.perf_counter()]
    method = runtime.load_program(path).load_method("forward")
    times.append(time.perf_counter())
    for _ in range(runs + 2):
        method.execute(inputs)
        times.append(time.perf_counter())
    took = [1000 * (end - start) for start, end in zip(times, times[1:])]
    print("RESULT " + json.dumps([*took[:3], sorted(took[3:])[runs // 2]]), flush=True)
"""
RUNS = 50
COLUMNS = ("load", "first run", "start", "second run", "run")


class Engines:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.pythons = {"ours": sys.executable, "upstream": peer_python()}

    def _ask(self, engine: str, code: str, question: list[object]) -> list[float]:
        worker = Worker(self.pythons[engine], code, self._folder, engine)
        answer = worker.ask(question)
        worker.close()
        return answer

    def lower(self, engine: str, program: Path) -> Path:
        path = program.with_suffix(f".{engine}.pte")
        self._ask(engine, LOWER, [str(program), str(path)])
        return path

    def run(self, engine: str, path: Path, inputs: Path, threads: int) -> dict[str, float]:
        load, first, second, run = self._ask(engine, RUN, [str(path), str(inputs), RUNS, threads])
        return dict(zip(COLUMNS, (load, first, load + first, second, run)))


def measure(engines: Engines, model: str, folder: Path, options: argparse.Namespace) -> str:
    method = make_example(model).forward
    program, inputs = folder / f"{model}.pt2", folder / f"{model}.inputs"
    torch.export.save(method.export(), program)
    torch.save(list(method.inputs), inputs)
    files = {engine: engines.lower(engine, program) for engine in engines.pythons}
    taken: dict[tuple[str, str], list[float]] = defaultdict(list)
    for _ in range(options.repeats):
        for engine, path in files.items():
            for column, value in engines.run(engine, path, inputs, options.threads).items():
                taken[engine, column].append(value)
    text = f"{model:10s}"
    for column in COLUMNS:
        ours, theirs = (statistics.median(taken[engine, column]) for engine in engines.pythons)
        text += f"{ours:9.1f}{theirs:9.1f}{ours / theirs:7.2f}"
    return text


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog="example: python -m executorch.tools.bench.delegated mv2 --repeats 9",
    )
    parser.add_argument(
        "models", nargs="*", default=["mv2", "resnet18", "vit", "bert"], help=", ".join(NETWORKS)
    )
    parser.add_argument("--repeats", type=int, default=5, help="processes of each engine")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(argv)
    print(f"{'':10s}" + "".join(f"{column:>25s}" for column in COLUMNS))
    print(f"{'model':10s}" + f"{'ours':>9s}{'upstream':>9s}{'ratio':>7s}" * len(COLUMNS))
    with tempfile.TemporaryDirectory() as name:
        engines = Engines(Path(name))
        for model in options.models:
            print(measure(engines, model, Path(name), options), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
