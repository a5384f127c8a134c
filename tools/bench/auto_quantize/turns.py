# SPDX-License-Identifier: BSD-3-Clause
"""What programs of a network give, and how long a call takes: each in a process of its own, in turns, ahead of all
other work where the machine allows it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from executorch.tools.measure.processes import Worker, ahead

# Questions: ["outputs", file] answers null; ["run", n] answers n times in milliseconds.
CODE = """
import json, logging, sys, time, warnings
warnings.filterwarnings("ignore"); logging.disable(logging.WARNING)
import numpy as np
import torch
torch.set_num_threads(@THREADS@)
calls = torch.load("@CALLS@")
def load_pte(path):
    from executorch.runtime import Runtime
    from executorch.extension.pybindings._portable_lib import _unsafe_reset_threadpool
    _unsafe_reset_threadpool(@THREADS@)
    method = Runtime.get().load_program(path).load_method("forward")
    return lambda call: method.execute(list(call))
def load_onnx(path):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = @THREADS@
    session = onnxruntime.InferenceSession(path, options)
    names = [each.name for each in session.get_inputs()]
    return lambda call: session.run(None, dict(zip(names, (each.numpy() for each in call))))
def load_xml(path):
    import openvino
    options = {"INFERENCE_NUM_THREADS": @THREADS@, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    compiled = openvino.Core().compile_model(path, "CPU", options)
    return lambda call: list(compiled([each.numpy() for each in call]).values())
path = "@PROGRAM@"
run = {"pte": load_pte, "onnx": load_onnx, "xml": load_xml}[path.rpartition(".")[2]](path)
with torch.no_grad():
    for line in sys.stdin:
        kind, value = json.loads(line)
        answer = None
        if kind == "outputs":
            found = [[np.array(each) for each in run(call)] for call in calls]
            np.savez(value, *[each for one in found for each in one])
        else:
            answer = []
            for _ in range(value):
                start = time.perf_counter()
                run(calls[0])
                answer.append((time.perf_counter() - start) * 1e3)
        print("RESULT " + json.dumps(answer), flush=True)
"""
ROUNDS = 7
_TURN = 100  # milliseconds of a turn


def worker(program: Path, python: str, calls: Path, threads: int) -> Worker:
    code = CODE.replace("@THREADS@", str(threads)).replace("@CALLS@", str(calls))
    code = code.replace("@PROGRAM@", str(program))
    return Worker(python, code, program.parent, f"{program.stem}-{threads}")


def outputs(program: Path, python: str, calls: Path) -> list[np.ndarray]:
    """Of all calls, one after the other. RuntimeError where the program does not run."""
    runs, path = worker(program, python, calls, 2), program.with_suffix(".outputs.npz")
    try:
        runs.ask(["outputs", str(path)])
    finally:
        runs.close()
    with np.load(path) as found:
        return [found[f"arr_{number}"] for number in range(len(found.files))]


def milliseconds(
    programs: Mapping[str, tuple[Path, str]], calls: Path, threads: int, priority: int
) -> dict[str, list[float]]:
    """By name, all times of a call; what each turn began with is left out."""
    workers = {
        name: worker(path, python, calls, threads) for name, (path, python) in programs.items()
    }
    try:
        with ahead([each.pid for each in workers.values()], priority):
            first = {name: each.ask(["run", 3])[-1] for name, each in workers.items()}
            counts = {name: 1 + max(2, min(20, int(_TURN / time))) for name, time in first.items()}
            found: dict[str, list[float]] = {name: [] for name in workers}
            for _ in range(ROUNDS):
                for name, each in workers.items():
                    found[name] += each.ask(["run", counts[name]])[1:]
    finally:
        for each in workers.values():
            each.close()
    return found


def spread(times: Sequence[float]) -> dict[str, Any]:
    """The median, and the quartiles around it."""
    low, middle, high = np.percentile(times, [25, 50, 75])
    return {"low": float(low), "median": float(middle), "high": float(high)}


def python_of(program: str, rivals: str) -> str:
    return sys.executable if program.endswith(".pte") else rivals
