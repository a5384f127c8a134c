# SPDX-License-Identifier: BSD-3-Clause
"""What `doctor` expects the suite's networks to take on this machine, beside what they take.

usage: python -m executorch.tools.bench.suite.expected [name or family ...] [--priority 10]
           [--page build/pages/expected.md]

The rates behind it are measured anew ahead of each network, as a shared machine's speed changes within minutes; no
network is among what they come from (devtools/costs/probes.py).
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path

import torch
from torch.export import ExportedProgram

from executorch.devtools.commands.arguments.options import XNNPACK
from executorch.devtools.commands.program_file import ProgramFile, partitioner_of
from executorch.devtools.costs.estimate import estimates
from executorch.devtools.costs.machine import KERNELS, Machine, processor
from executorch.devtools.costs.probes import measured
from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.exir.passes import MemoryPlanningPass
from executorch.tools import pages
from executorch.tools.bench.suite.table import chosen
from executorch.tools.measure.processes import ahead

_SECONDS, _LEAST_RUNS = 0.5, 5
_TITLES = {XNNPACK: "xnnpack", KERNELS: "kernels"}
HEAD = """# Expected times

What `doctor` expects the suite's networks to take, from the file and the record of its model alone, beside what they
take: the least of runs within half a second, in milliseconds; rates are measured ahead of each network. {date},
{processor}. Written by

    {command}

"""


@dataclass(frozen=True)
class Row:
    """Milliseconds."""

    name: str
    engine: str
    expected: float
    taken: float

    @property
    def ratio(self) -> float:
        return self.expected / self.taken

    @property
    def error(self) -> float:
        return abs(self.ratio - 1)


def rows(
    name: str,
    program: ExportedProgram,
    inputs: Sequence[torch.Tensor],
    here: Machine,
    priority: int,
) -> Iterator[Row]:
    """With the delegate and without."""
    from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

    config = ExecutorchBackendConfig(
        memory_planning_pass=MemoryPlanningPass(alloc_graph_input=False)
    )
    for engine, partitioner in ((XNNPACK, [partitioner_of(XNNPACK)]), (KERNELS, None)):
        lowered = to_edge_transform_and_lower(
            program, partitioner=partitioner, generate_etrecord=True
        ).to_executorch(config)
        data = bytes(lowered.buffer)
        found = estimates(ProgramFile(Path(name), data), "forward", lowered.get_etrecord(), here)
        loaded = _load_for_executorch_from_buffer(data)
        run = partial(loaded.run_method, "forward", inputs, clone_outputs=False)
        run()
        with ahead([os.getpid()], priority):
            taken = least(run)
        yield Row(name, engine, 1e3 * sum(each.seconds for each in found), 1e3 * taken)


def least(run) -> float:
    best, spent, runs = math.inf, 0.0, 0
    while spent < _SECONDS or runs < _LEAST_RUNS:
        start = time.perf_counter()
        run()
        passed = time.perf_counter() - start
        best, spent, runs = min(best, passed), spent + passed, runs + 1
    return best


def summary(found: Sequence[Row]) -> str:
    lines = [
        "| by | networks | median error | within 20 % | within 50 % |",
        "|---|--:|--:|--:|--:|",
    ]
    for engine, title in _TITLES.items():
        errors = [row.error for row in found if row.engine == engine]
        if errors:
            shares = [sum(error <= most for error in errors) / len(errors) for most in (0.2, 0.5)]
            cells = [f"{statistics.median(errors):.0%}", *(f"{share:.0%}" for share in shares)]
            lines.append(f"| {title} | {len(errors)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def text(found: Sequence[Row], command: str) -> str:
    head = HEAD.format(date=date.today().isoformat(), processor=processor(), command=command)
    lines = ["| network | by | expected | taken | ratio |", "|---|---|--:|--:|--:|"]
    for row in sorted(found, key=lambda row: -row.error):
        cells = (f"{row.expected:.2f}", f"{row.taken:.2f}", f"{row.ratio:.2f}")
        lines.append(f"| {row.name} | {_TITLES[row.engine]} | {' | '.join(cells)} |")
    return head + summary(found) + "\n" + "\n".join(lines) + "\n"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m executorch.tools.bench.suite.expected",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("only", nargs="*", help="names or families; all unless given")
    parser.add_argument("--priority", type=int, default=0, help="as of the suite")
    parser.add_argument("--page", type=Path, help="write the page")
    options = parser.parse_args(argv)
    torch.set_grad_enabled(False)
    found: list[Row] = []
    for network in chosen(options.only):
        module, inputs = network.build()
        try:
            program = torch.export.export(module, inputs, strict=False)
        except Exception as problem:  # the suite's page has it under "Refused"
            print(f"{network.name}: {str(problem).splitlines()[0][:120]}", flush=True)
            continue
        leaves = torch.utils._pytree.tree_leaves(inputs)
        with ahead([os.getpid()], options.priority):
            here = Machine({engine: measured(engine) for engine in (KERNELS, XNNPACK)})
        for row in rows(network.name, program, leaves, here, options.priority):
            found.append(row)
            print(
                f"{row.name:18s}{_TITLES[row.engine]:9s}{row.expected:9.2f}{row.taken:9.2f}{row.ratio:7.2f}",
                flush=True,
            )
    print(summary(found))
    if options.page and found:
        words = sys.argv[1:] if argv is None else argv
        pages.write(options.page, text(found, f"{parser.prog} {' '.join(words)}"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
