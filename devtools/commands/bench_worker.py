# SPDX-License-Identifier: BSD-3-Clause
"""A process that has one program and measures it when asked; `bench` starts one for each file and number of threads.

Arguments: the file, the method, the number of threads (0: as it is), and the inputs as JSON (see _input).

On standard input: JSON lines, each the number of runs. On standard output: lines of JSON after RESULT: first what
loading and the first run cost, then, for each line read, nanoseconds of the runs and what they took of energy.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

_NUMPY_TYPES = {
    "Byte": "uint8", "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64", "Half": "float16",
    "Float": "float32", "Double": "float64", "Bool": "bool",
}  # fmt: skip
_ENERGY = Path("/sys/class/powercap/intel-rapl:0/energy_uj")


def _memory(field: str) -> int:
    """Bytes of this process, by a field of /proc/self/status; 0 where there is none."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    found = [int(line.split()[1]) for line in lines if line.startswith(f"{field}:")]
    return found[0] * 1024 if found else 0


def _energy() -> int | None:
    """Microjoules that the processor has used; None where it does not say, or not to us."""
    try:
        return int(_ENERGY.read_text())
    except (OSError, ValueError):
        return None


def _set_threads(count: int) -> None:
    from executorch.extension.pybindings import portable_lib

    if count and hasattr(portable_lib, "_unsafe_reset_threadpool"):
        portable_lib._unsafe_reset_threadpool(count)


def _input(described: Any) -> Any:
    """A value as it is; for [dtype, sizes] ones: NumPy's where it has the dtype, since importing torch would take
    memory in the process that is measured."""
    return _ones(*described) if isinstance(described, list) else described


def _ones(dtype: int, sizes: Sequence[int]) -> Any:
    from executorch.codegen.op_table import SCALAR_TYPES

    names = {number: name for name, number in SCALAR_TYPES.items()}
    if names[dtype] in _NUMPY_TYPES:
        return np.ones(sizes, _NUMPY_TYPES[names[dtype]])
    import torch

    return torch.ones(sizes, dtype=getattr(torch, names[dtype].lower()))


def _answer(value: Any) -> None:
    print("RESULT " + json.dumps(value), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Loads a program and runs it as often as lines of standard input say; answers in JSON. The process "
        "behind `python -m executorch.devtools bench`."
    )
    parser.add_argument("file")
    parser.add_argument("method")
    parser.add_argument("threads", type=int)
    parser.add_argument(
        "inputs", type=json.loads, help="JSON: sizes and dtype of each tensor, or its value"
    )
    options = parser.parse_args()
    file, method_name, threads = options.file, options.method, options.threads
    inputs = [_input(described) for described in options.inputs]
    from executorch.runtime import Runtime

    runtime = Runtime.get()
    _set_threads(threads)
    before = _memory("VmRSS")
    start = time.perf_counter_ns()
    try:
        method = runtime.load_program(file).load_method(method_name)
        loaded = time.perf_counter_ns()
        method.execute(inputs)
    except RuntimeError as problem:  # the last line of what is told is what `bench` shows
        sys.exit(" ".join(str(problem).split()))
    first = time.perf_counter_ns() - loaded
    _answer(
        {
            "load_ns": loaded - start,
            "first_ns": first,
            "resident_bytes": _memory("VmRSS") - before,
            "peak_bytes": _memory("VmHWM") - before,
        }
    )
    for line in sys.stdin:
        energy, times = _energy(), []
        for _ in range(json.loads(line)):
            begin = time.perf_counter_ns()
            method.execute(inputs)
            times.append(time.perf_counter_ns() - begin)
        after = _energy()
        used = (
            after - energy if energy is not None and after is not None and after >= energy else None
        )
        _answer({"ns": times, "energy_uj": used})


if __name__ == "__main__":
    main()
