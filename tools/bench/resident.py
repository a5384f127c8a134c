# SPDX-License-Identifier: BSD-3-Clause
"""Prints what loaded programs cost in resident memory: `python -m tools.bench.resident FILE.pte ...`

Each file in a process of its own: loaded as Python does by default, run on ones once, then twice more, unloaded, and
loaded and run another 100 times."""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
from dataclasses import dataclass
from json import dumps, loads
from pathlib import Path

import torch

from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.exir.schema import ScalarType
from executorch.exir.tensor import get_scalar_type
from executorch.runtime import Method, MethodMeta, Runtime

CYCLES = 100


@dataclass(frozen=True)
class Resident:
    """Bytes more than before: after load and one run, after two more, and after all cycles."""

    file: int
    planned: int
    once: int
    thrice: int
    unloaded: int

    def ratio(self, resident: int) -> float:
        return (resident - self.planned) / self.file


def measure(program: Path) -> Resident:
    plan = deserialize_pte_binary(program.read_bytes()).program.execution_plan[0]
    # In a fresh process, which has not even read the file: what it frees would be used again unseen.
    command = [sys.executable, "-m", "tools.bench.resident", "--one", str(program), plan.name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = loads(done.stdout.splitlines()[-1])
    return Resident(program.stat().st_size, sum(plan.non_const_buffer_sizes), *found)


def ones(meta: MethodMeta) -> list[torch.Tensor]:
    infos = [meta.input_tensor_meta(index) for index in range(meta.num_inputs())]
    return [
        torch.ones(info.sizes(), dtype=get_scalar_type(ScalarType(info.dtype()))) for info in infos
    ]


def measure_here(program: Path, name: str) -> tuple[int, int, int]:
    """`once`, `thrice` and `unloaded` of a method."""
    runtime = Runtime.get()
    inputs = ones(runtime.load_program(program).metadata(name))

    def load_and_run() -> Method:
        method = runtime.load_program(program).load_method(name)
        method.execute(inputs)
        return method

    gc.collect()
    before = _resident()
    method = load_and_run()
    once = _resident() - before
    for _ in range(2):
        method.execute(inputs)
    thrice = _resident() - before
    del method
    for _ in range(CYCLES):
        load_and_run()
    gc.collect()
    return once, thrice, _resident() - before


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def _mb(size: int) -> str:
    return f"{size / 1e6:.1f}"


def table(programs: list[Path]) -> str:
    """In MB; the ratios are of resident less planned memory to the file."""
    lines = [
        "| program | file | planned | one run | ratio | three runs | ratio | after unloading |"
    ]
    lines += ["|---|--:|--:|--:|--:|--:|--:|--:|"]
    for program in programs:
        found = measure(program)
        cells = [program.stem, _mb(found.file), _mb(found.planned)]
        for resident in (found.once, found.thrice):
            cells += [_mb(resident), f"{found.ratio(resident):.2f}"]
        lines += [f"| {' | '.join(cells)} | {_mb(found.unloaded)} |"]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", type=Path)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        print(dumps(measure_here(Path(options.one[0]), options.one[1])))
    else:
        print(table(options.programs))


if __name__ == "__main__":
    main()
