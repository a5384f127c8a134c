# SPDX-License-Identifier: BSD-3-Clause
"""Latency of the networks: eager PyTorch, ours, and upstream's portable kernels where asked, in turns.

usage: python -m executorch.tools.bench.networks [model ...] [--threads 2] [--upstream]

Medians of milliseconds over rounds in which every engine runs once in its own process; all use the same threads
(upstream's wheel decides for itself) and the same inputs and weights.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

import torch

from executorch.examples.models import NETWORKS, make_example
from executorch.exir import to_edge
from executorch.tools.measure.processes import Worker, peer_python

# Questions: ["load", program, calls] answers null; ["run", n] answers n times in milliseconds.
CODE = """
import json, logging, sys, time, warnings
warnings.filterwarnings("ignore"); logging.disable(logging.WARNING)
import torch
torch.set_num_threads(@THREADS@)
torch.set_grad_enabled(False)
def load_eager(path, inputs):
    module = torch.export.load(path).module()
    return lambda: module(*inputs)
def load_executorch(path, inputs):
    from executorch.runtime import Runtime
    try:
        from executorch.extension.pybindings._portable_lib import _unsafe_reset_threadpool
        _unsafe_reset_threadpool(@THREADS@)
    except ImportError:
        pass
    method = Runtime.get().load_program(path).load_method("forward")
    return lambda: method.execute(inputs)
def lower(source, target):
    from executorch.exir import to_edge
    program = to_edge(torch.export.load(source)).to_executorch()
    open(target, "wb").write(program.buffer)
for line in sys.stdin:
    kind, *rest = json.loads(line)
    answer = None
    if kind == "load":
        inputs = torch.load(rest[1], weights_only=True)
        run = (load_eager if rest[0].endswith(".pt2") else load_executorch)(rest[0], inputs)
        run()
    elif kind == "lower":
        lower(*rest)
    else:
        answer = []
        for _ in range(rest[0]):
            start = time.perf_counter()
            run()
            answer.append((time.perf_counter() - start) * 1e3)
    print("RESULT " + json.dumps(answer), flush=True)
"""


def measure(
    workers: dict[str, Worker], programs: dict[str, Path], inputs: Path, rounds: int
) -> dict:
    for engine, worker in workers.items():
        worker.ask(["load", str(programs[engine]), str(inputs)])
    # as many runs a turn as take about a third of a second
    counts = {s: max(1, min(20, int(300 / w.ask(["run", 2])[-1]))) for s, w in workers.items()}
    times: dict[str, list[float]] = {engine: [] for engine in workers}
    for _ in range(rounds):
        for engine, worker in workers.items():
            times[engine] += worker.ask(["run", counts[engine]])
    return {engine: statistics.median(found) for engine, found in times.items()}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=list(NETWORKS), help=", ".join(NETWORKS))
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--upstream", action="store_true", help="the upstream wheel, too (slow)")
    options = parser.parse_args(argv)
    code = CODE.replace("@THREADS@", str(options.threads))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pythons = {"eager": sys.executable, "ours": sys.executable}
        if options.upstream:
            pythons["upstream"] = peer_python()
        workers = {
            engine: Worker(python, code, folder, engine) for engine, python in pythons.items()
        }
        print(f"milliseconds, {options.threads} threads")
        print(f"{'model':12s}" + "".join(f"{engine:>12s}" for engine in workers) + "   ours/eager")
        for model in options.models:
            method = make_example(model).forward
            exported, programs = method.export(), {"eager": folder / f"{model}.pt2"}
            torch.export.save(exported, programs["eager"])
            programs["ours"] = folder / f"{model}-ours.pte"
            to_edge(exported).to_executorch().save(str(programs["ours"]))
            if options.upstream:
                programs["upstream"] = folder / f"{model}-upstream.pte"
                workers["upstream"].ask(
                    ["lower", str(programs["eager"]), str(programs["upstream"])]
                )
            inputs = folder / f"{model}.inputs"
            torch.save(torch.utils._pytree.tree_leaves(method.calls[0]), inputs)
            found = measure(workers, programs, inputs, options.rounds)
            row = "".join(f"{found[engine]:12.2f}" for engine in workers)
            print(f"{model:12s}{row}{found['ours'] / found['eager']:11.2f}x", flush=True)
        for worker in workers.values():
            worker.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
