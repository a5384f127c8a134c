# SPDX-License-Identifier: BSD-3-Clause
"""A process that has one program and measures it when asked; `bench` starts one for each file and number of threads.

Arguments: the file, the method, the number of threads (0: as it is), the file with the inputs (see keep), and the data
file, if it has one. It runs on any build of the package that an interpreter has, and needs only what all of
them have.

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
    if not count:
        return
    from executorch.extension.pybindings import portable_lib

    if not hasattr(portable_lib, "_unsafe_reset_threadpool"):
        sys.exit("this build cannot set its number of threads")
    portable_lib._unsafe_reset_threadpool(count)


def keep(path: Path, inputs: Sequence[Any]) -> None:
    """A file of inputs: arrays, and what is none as JSON, in their order."""
    arrays, described = {}, []
    for number, value in enumerate(inputs):
        if hasattr(value, "shape"):
            dtype = str(value.dtype).removeprefix("torch.")
            described.append([dtype])
            arrays[str(number)] = value if hasattr(np, dtype) else value.double().numpy()
        else:
            described.append(value)
    np.savez(path, described=json.dumps(described), **arrays)


def kept(path: Path) -> list[Any]:
    """The inputs: arrays are NumPy's where it has the dtype and the runtime has not brought torch, which would take
    memory in the process that is measured."""
    with np.load(path, allow_pickle=False) as file:
        return [
            _array(file[str(number)], each[0]) if isinstance(each, list) else each
            for number, each in enumerate(json.loads(str(file["described"])))
        ]


def _array(array: Any, dtype: str) -> Any:
    if "torch" not in sys.modules and hasattr(np, dtype):
        return array
    import torch

    return torch.from_numpy(array).to(getattr(torch, dtype))


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
    parser.add_argument("inputs", type=Path, help="what `keep` wrote")
    parser.add_argument("data", nargs="?", help="its data file (.ptd)")
    options = parser.parse_args()
    file, method_name, threads = options.file, options.method, options.threads
    from executorch.runtime import Runtime
    from executorch.version import __version__

    runtime = Runtime.get()
    inputs = kept(options.inputs)
    _set_threads(threads)
    before = _memory("VmRSS")
    start = time.perf_counter_ns()
    try:
        external = {"data_path": options.data} if options.data else {}  # not of every build
        method = runtime.load_program(file, **external).load_method(method_name)
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
            "version": __version__,
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
