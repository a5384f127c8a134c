# SPDX-License-Identifier: BSD-3-Clause
"""One engine in one process: prepares a program that torch.export saved, then runs it as often as asked.

Questions, a line of JSON each: ["threads", n]; ["prepare", engine, precision, program, calls, seconds, right] answers
the relative difference to eager and the way that was the fastest, ["accuracy", ...] with the same words the
differences of the other calls; ["convert", precision, program, calls, seconds] the name of the ONNX file; ["run", n]
answers n pairs of milliseconds: passed, and of processors at work; ["memory", runtime, file, calls, seconds] answers
the bytes that loading and running a file takes, as a process's first; ["latency", runtime, file, calls, seconds,
runs, options] the milliseconds of loading and of each run.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial

import torch
from engines import ours, rivals
from engines.case import Case, Run

# How its users run each engine. Of several ways the fastest that is right counts.
WAYS = {
    "eager": {"": ours.eager},
    "kernels": {"": ours.kernels},
    "xnnpack": {"": ours.xnnpack},
    "onnxruntime": {"plain": rivals.onnxruntime_plain, "fused": rivals.onnxruntime_fused},
    "openvino": {"ONNX": rivals.openvino_from_onnx, "torch": rivals.openvino_from_torch},
}
DELEGATE = " delegate"  # of our other backends: `openvino delegate`
TRY_SECONDS = 0.3
_threads = 1


def ways_of(engine: str) -> dict[str, Callable[[Case], Run]]:
    if engine.endswith(DELEGATE):
        return {"": partial(ours.delegate, engine.removesuffix(DELEGATE))}
    return WAYS[engine]


def use_threads(count: int) -> None:
    """On as many processors as threads, so that engines without an option for it keep to them, too."""
    global _threads
    _threads = count
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])
    torch.set_num_threads(count)


def outputs(run: Run) -> list:
    found = run()
    found = found.arrays() if hasattr(found, "arrays") else found
    return torch.utils._pytree.tree_leaves(found)


def difference(found, expected) -> float:
    """The largest ||found - expected|| / ||expected|| of the outputs."""
    worst = 0.0
    for each, want in zip(found, expected, strict=True):
        each, want = torch.as_tensor(each).double(), want.double()
        gap = float((each - want).norm() / want.norm().clamp_min(1e-9))
        worst = max(worst, gap if gap == gap else float("inf"))
    return worst


def timed(run: Run, count: int) -> list[tuple[float, float]]:
    taken = []
    for _ in range(count):
        start, busy = time.perf_counter(), time.process_time()
        run()
        taken.append(((time.perf_counter() - start) * 1e3, (time.process_time() - busy) * 1e3))
    return taken


def fastest_run(run: Run) -> float:
    """Milliseconds; the least of what fits into TRY_SECONDS, three runs at least."""
    end, best, runs = time.perf_counter() + TRY_SECONDS, float("inf"), 0
    while runs < 3 or time.perf_counter() < end:
        best, runs = min(best, timed(run, 1)[0][0]), runs + 1
    return best


def case_of(precision: str, path: str, calls: str) -> tuple[Case, list, list]:
    inputs, expected, others = torch.load(calls, weights_only=True)
    case = Case(torch.export.load(path), precision, inputs, path, _threads)
    return case, expected, others


def prepare(
    engine: str, precision: str, path: str, calls: str, seconds: int, right: float
) -> tuple[Run, dict]:
    """The fastest way that differs from eager by `right` at most, or the fastest wrong one; what it says of itself, and
    of the other ways."""
    signal.alarm(seconds)
    case, expected, _ = case_of(precision, path, calls)
    every, ways, refused = ways_of(engine), {}, {}
    for name, way in every.items():
        try:
            run = way(case)
            gap = difference(outputs(run), expected)
            passed = fastest_run(run) if len(every) > 1 else 0.0
            ways[name] = (gap > right, passed, gap, run)
        except Exception as problem:
            if len(every) == 1:
                raise
            refused[name] = f"{type(problem).__name__}: {problem}"[:600]
    signal.alarm(0)
    if not ways:
        raise RuntimeError("; ".join(f"{name}: {message}" for name, message in refused.items()))
    best = min(ways, key=lambda name: ways[name][:2])
    answer = {"difference": ways[best][2]}
    if best:
        tried = {name: passed for name, (_, passed, _, _) in ways.items()}
        answer |= {"way": best, "tried": tried, "refused": refused}
    return ways[best][3], answer


def accuracy(engine: str, precision: str, path: str, calls: str, seconds: int) -> list[float]:
    """The relative difference to eager of each of the other calls, which did not calibrate."""
    signal.alarm(seconds)
    case, _, others = case_of(precision, path, calls)
    run = next(iter(ways_of(engine).values()))(case)
    answer = []
    for other, expected in others:
        for held, new in zip(case.inputs, other, strict=True):  # engines read inputs where they are
            held.copy_(new)
        answer.append(difference(outputs(run), expected))
    signal.alarm(0)
    return answer


def convert(precision: str, path: str, calls: str, seconds: int) -> str:
    """The name of the ONNX file."""
    signal.alarm(seconds)
    name = rivals.onnx_file(case_of(precision, path, calls)[0])
    signal.alarm(0)
    return name


def loader(runtime: str):
    """What loads a file, after what it imports was imported."""
    if runtime == "executorch":
        importlib.import_module("executorch.runtime")
        return ours.load
    importlib.import_module(runtime.split(",")[0])
    load = rivals.LOADERS[runtime]
    return lambda name, inputs: load(name, inputs, _threads)


def memory(runtime: str, name: str, calls: str, seconds: int) -> dict[str, int]:
    """Bytes more than before: after the first run, after three, and the most until then."""
    signal.alarm(seconds)
    inputs = list(torch.load(calls, weights_only=True)[0])
    load = loader(runtime)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # forgets the peak until here
    before = status_bytes("VmRSS")
    run = load(name, inputs)
    run()
    once = status_bytes("VmRSS") - before
    run()
    run()
    signal.alarm(0)
    return {
        "once": once,
        "thrice": status_bytes("VmRSS") - before,
        "peak": status_bytes("VmHWM") - before,
    }


def latency(runtime: str, name: str, calls: str, seconds: int, runs: int, options) -> dict:
    """Milliseconds: of loading, and of each run since."""
    signal.alarm(seconds)
    inputs = list(torch.load(calls, weights_only=True)[0])
    load = loader(runtime)
    start = time.perf_counter()
    run = load(name, inputs, options) if options else load(name, inputs)
    loaded = (time.perf_counter() - start) * 1e3
    taken = [passed for passed, _ in timed(run, runs)]
    signal.alarm(0)
    return {"load": loaded, "runs": taken}


def status_bytes(field: str) -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field + ":"))


def main() -> None:
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.set_grad_enabled(False)
    questions = {
        "threads": use_threads,
        "accuracy": accuracy,
        "convert": convert,
        "memory": memory,
        "latency": latency,
    }
    run: Run | None = None
    for line in sys.stdin:
        kind, *rest = json.loads(line)
        answer = None
        try:
            if kind == "prepare":
                run, answer = None, None
                run, answer = prepare(*rest)
            elif kind == "run":
                answer = timed(run, *rest)
            else:
                answer = questions[kind](*rest)
        except Exception as problem:
            signal.alarm(0)
            answer = {"error": f"{type(problem).__name__}: {problem}"[:600]}
        print("RESULT " + json.dumps(answer), flush=True)
