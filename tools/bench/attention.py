# SPDX-License-Identifier: BSD-3-Clause
"""Attention on caches beside eager PyTorch, at one thread and at all: what a layer does for one token (decode) or for
all tokens of a text (prefill).

Ours is two calls of update_cache and one of custom_sdpa; eager is scaled_dot_product_attention alone, on keys that lie
as it likes them best. Turns alternate; the last column is our time over eager's. Example:

python -m tools.bench.attention --only decode --threads 1
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn.functional as F

import executorch.extension.llm.custom_ops.custom_ops  # noqa: F401  (eager forms)
from kernels.test.kernel_call import Call, load_library, load_schemas
from tools.bench.figures import geometric_mean

_ROOT = Path(__file__).resolve().parents[2]
_TURNS, _TURN_SECONDS, _SETTLE_SECONDS = 5, 0.02, 0.005
# (heads, heads of keys, depth): SmolLM2-135M, Llama 3.2 1B, Qwen3 0.6B, Gemma 3 1B, one without groups.
HEADS = [(9, 3, 64), (32, 8, 64), (16, 8, 128), (4, 1, 256), (16, 16, 96)]
CONTEXTS = [128, 1024, 4096]


@dataclass(frozen=True)
class Case:
    phase: str  # decode: the last token of the context; prefill: all of them
    context: int
    heads: int
    key_heads: int
    depth: int

    @property
    def queries(self) -> int:
        return 1 if self.phase == "decode" else self.context

    @property
    def label(self) -> str:
        return f"{self.phase} {self.context}, {self.heads}/{self.key_heads} heads of {self.depth}"


@dataclass(frozen=True)
class Row:
    """Seconds of both engines, and of the attention among ours."""

    label: str
    eager: float
    ours: float
    attention: float

    @property
    def ratio(self) -> float:
        return self.ours / self.eager


def cases() -> Iterator[Case]:
    for phase, context, heads in itertools.product(("decode", "prefill"), CONTEXTS, HEADS):
        yield Case(phase, context, *heads)


class _Kernel:
    """A call of one of our operators, on given tensors."""

    def __init__(self, name: str, *inputs: object) -> None:
        library, schema = load_library("llm"), load_schemas("llm")[f"llama::{name}.out"]
        self.call, self.name, self.library = Call(library, schema), schema.qualified_name, library
        arguments = [a for a in schema.arguments if not a.is_out]
        for argument, value in zip(arguments, inputs, strict=True):
            self.call.add_input(argument, value)
        self.call.add_outputs((inputs[0] if name == "custom_sdpa" else torch.empty(1),))
        if self.call.run() != 0:
            raise RuntimeError(f"{self.name} failed")

    def best(self, repeats: int) -> float:
        return self.library.best_time(self.name, self.call.items, repeats)


def measure(case: Case) -> Row:
    """Both engines of a case; raises when their results differ."""
    keys, start = case.context, case.context - case.queries
    q = torch.randn(1, case.queries, case.heads, case.depth)
    k, v = (torch.randn(1, keys, case.key_heads, case.depth) for _ in "kv")
    theirs = [each.transpose(1, 2).contiguous() for each in (q, k, v)]

    def eager() -> torch.Tensor:
        grouped = case.heads != case.key_heads
        return F.scaled_dot_product_attention(
            *theirs, is_causal=case.queries > 1, enable_gqa=grouped
        )

    attention = _Kernel("custom_sdpa", q, k, v, start, None, 0.0, True, None)
    updates = [_Kernel("update_cache", each[:, start:].clone(), each, start) for each in (k, v)]
    torch.testing.assert_close(
        attention.call.results()[0].transpose(1, 2), eager(), rtol=1e-3, atol=1e-4
    )
    once = _best(eager, 2)
    repeats = int(min(200, max(2, _TURN_SECONDS / max(once, 1e-7))))
    times = []
    for _ in range(_TURNS):
        turn = [_best(eager, repeats)]
        time.sleep(_SETTLE_SECONDS)
        turn += [each.best(repeats) for each in (attention, *updates)]
        time.sleep(_SETTLE_SECONDS)
        times.append(turn)
    best = [min(seconds) for seconds in zip(*times, strict=True)]
    return Row(case.label, best[0], sum(best[1:]), best[1])


def _best(run: Callable[[], object], repeats: int) -> float:
    best = math.inf
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def _worker(threads: int, wanted: str) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    torch.set_num_threads(threads)
    with torch.no_grad():
        for case in cases():
            if wanted in case.label:
                print(json.dumps(asdict(measure(case))), flush=True)


def _run(threads: int, wanted: str) -> list[Row]:
    command = [sys.executable, "-m", "tools.bench.attention", "--worker", str(threads), "--only", wanted]  # fmt: skip
    print(f"\n{threads} threads: microseconds of eager, of ours, of its attention, ours / eager")
    rows = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=_ROOT) as worker:
        assert worker.stdout
        for line in worker.stdout:
            if line.startswith("{"):
                row = Row(**json.loads(line))
                rows.append(row)
                times = "".join(f"{1e6 * t:11.1f}" for t in (row.eager, row.ours, row.attention))
                print(f"{row.label:44}{times}{row.ratio:8.2f}", flush=True)
    if worker.returncode != 0:
        sys.exit(f"the worker ended with {worker.returncode} after the last row above")
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.bench.attention",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", default="", help="only rows whose name contains this")
    parser.add_argument("--threads", type=int, nargs="*", help="thread counts (default: 1 and all)")
    parser.add_argument("--mean", type=float, default=1.0, help="largest geometric mean")
    parser.add_argument("--worst", type=float, default=1.2, help="largest ratio of a row")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        _worker(options.worker, options.only)
        return 0
    rows = []
    for threads in options.threads or sorted({1, torch.get_num_threads()}):
        found = _run(threads, options.only)
        print(
            f"geometric mean {geometric_mean(row.ratio for row in found):.2f}, worst {max(r.ratio for r in found):.2f}"
        )
        rows += found
    mean, worst = geometric_mean(row.ratio for row in rows), max(row.ratio for row in rows)
    print(
        f"\n{len(rows)} rows: geometric mean {mean:.2f} (at most {options.mean}), worst {worst:.2f}"
    )
    return 1 if mean > options.mean or worst > options.worst else 0


if __name__ == "__main__":
    sys.exit(main())
