# SPDX-License-Identifier: BSD-3-Clause
"""Seconds of lowering (to_edge, to_executorch, bytes), ours and upstream's, on the same exported programs.

usage: python -m executorch.tools.bench.lowering [model ...] [--repeats 3] [--fresh]

Upstream runs in its own environment: EXECUTORCH_PEER_PYTHON, else build/peer (test/interop/make_peer.sh).
Each engine lowers every program once to warm up; then they take turns, and the median counts. With --fresh, each
lowering is the first of its process (imports of `executorch.exir` done), as in a script that exports one model.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import torch

from executorch.examples.models import NETWORKS, make_example
from executorch.tools.measure.processes import Worker, peer_python

CODE = """
import json, logging, sys, time, warnings
warnings.filterwarnings("ignore"); logging.disable(logging.WARNING)
import torch
from executorch.exir import to_edge
for line in sys.stdin:
    program = torch.export.load(json.loads(line))
    start, cpu = time.perf_counter(), time.process_time()
    lowered = to_edge(program).to_executorch()
    size = len(lowered.buffer)
    seconds = [time.perf_counter() - start, time.process_time() - cpu]
    print("RESULT " + json.dumps([*seconds, size]), flush=True)
"""


@dataclass
class Taken:
    """Wall and CPU seconds of each lowering, and the bytes it gave."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    size: int = 0


class Engines:
    """Both implementations, each in one process for all lowerings or in a new one for each."""

    def __init__(self, folder: Path, fresh: bool) -> None:
        self._folder = folder
        self._fresh = fresh
        self._workers: dict[str, Worker] = {}
        self.pythons = {"ours": sys.executable, "upstream": peer_python()}

    def lower(self, engine: str, program: Path) -> tuple[float, float, int]:
        worker = self._workers.get(engine)
        if worker is None:
            worker = Worker(self.pythons[engine], CODE, self._folder, engine)
            self._workers[engine] = worker
        answer = worker.ask(str(program))
        if self._fresh:
            self._workers.pop(engine).close()
        return answer

    def close(self) -> None:
        for worker in self._workers.values():
            worker.close()


def measure(engines: Engines, program: Path, repeats: int, warm_up: int) -> dict[str, Taken]:
    taken = {engine: Taken() for engine in engines.pythons}
    for repeat in range(repeats + warm_up):
        for engine, found in taken.items():
            wall, cpu, found.size = engines.lower(engine, program)
            if repeat >= warm_up:
                found.wall.append(wall)
                found.cpu.append(cpu)
    return taken


def row(model: str, taken: dict[str, Taken]) -> str:
    ours, theirs = taken["ours"], taken["upstream"]
    text = f"{model:12s}"
    for kind in ("wall", "cpu"):
        left, right = (statistics.median(getattr(engine, kind)) for engine in (ours, theirs))
        text += f"{left:8.2f} s{right:10.2f} s{right / left:8.1f}x"
    return f"{text}   {ours.size}, {theirs.size}"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "models", nargs="*", default=["mv2", "vit", "bert"], help=", ".join(NETWORKS)
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--fresh", action="store_true", help="a new process for each lowering")
    options = parser.parse_args(argv)
    heads = f"{'ours':>10s}{'upstream':>12s}{'ratio':>9s}"
    print(f"{'':12s}{'wall':>10s}{'':21s}{'CPU':>10s}\n{'model':12s}{heads}{heads}   bytes")
    with tempfile.TemporaryDirectory() as name:
        engines = Engines(Path(name), options.fresh)
        for model in options.models:
            program = Path(name) / f"{model}.pt2"
            torch.export.save(make_example(model).forward.export(), program)
            warm_up = 0 if options.fresh else 1
            print(row(model, measure(engines, program, options.repeats, warm_up)), flush=True)
        engines.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
