# SPDX-License-Identifier: BSD-3-Clause
"""Seconds of lowering (to_edge, to_executorch, bytes), ours and upstream's, on the same exported programs.

usage: python -m executorch.tools.bench.lowering [model ...] [--repeats 3]

Upstream runs in its own environment: EXECUTORCH_PEER_PYTHON, else build/peer (test/interop/make_peer.sh).
Each side lowers every program once to warm up; then they take turns, and the median counts.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

import torch

from executorch.examples.models import NETWORKS, make_example
from executorch.tools.bench.turns import Worker, peer_python

CODE = """
import json, logging, sys, time, warnings
warnings.filterwarnings("ignore"); logging.disable(logging.WARNING)
import torch
from executorch.exir import to_edge
for line in sys.stdin:
    program = torch.export.load(json.loads(line))
    start = time.perf_counter()
    lowered = to_edge(program).to_executorch()
    size = len(lowered.buffer)
    print("RESULT " + json.dumps([time.perf_counter() - start, size]), flush=True)
"""


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "models", nargs="*", default=["mv2", "vit", "bert"], help=", ".join(NETWORKS)
    )
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pythons = {"ours": sys.executable, "upstream": peer_python()}
        sides = {side: Worker(python, CODE, folder, side) for side, python in pythons.items()}
        print(f"{'model':12s}{'ours':>10s}{'upstream':>12s}{'ratio':>9s}   bytes ours, upstream")
        for model in options.models:
            path = folder / f"{model}.pt2"
            torch.export.save(make_example(model).forward.export(), path)
            seconds: dict[str, list[float]] = {side: [] for side in sides}
            sizes: dict[str, int] = {}
            for repeat in range(options.repeats + 1):
                for side, worker in sides.items():
                    taken, sizes[side] = worker.ask(str(path))
                    if repeat > 0:
                        seconds[side].append(taken)
            ours, theirs = (statistics.median(seconds[side]) for side in ("ours", "upstream"))
            print(
                f"{model:12s}{ours:8.2f} s{theirs:10.2f} s{theirs / ours:8.1f}x"
                f"   {sizes['ours']}, {sizes['upstream']}",
                flush=True,
            )
        for worker in sides.values():
            worker.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
