# SPDX-License-Identifier: BSD-3-Clause
"""What tracing tells of programs and what it costs: events with lines, the share of the time, overhead.

usage: python -m executorch.tools.bench.tracing [network ...] [--repeats 30] [--page build/pages/tracing.md]

Each program is loaded twice, with enable_etdump and without, and runs in turns on one thread; the least time that the
thread itself worked counts, which other work on the machine hardly changes.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree as pytree

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.devtools import Inspector
from executorch.devtools.inspector import Event
from executorch.examples.models import make_example
from executorch.examples.models.example import Method
from executorch.examples.models.llama_style import LlamaStyle, Shape
from executorch.examples.xnnpack.quantization import quantized_method
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.program._etrecord import ETRecord
from executorch.extension.pybindings._portable_lib import _unsafe_reset_threadpool
from executorch.runtime import Runtime
from executorch.test.e2e.build_tree import binary, run
from executorch.tools import pages
from executorch.tools.bench.figures import processor

COMMAND = "python -m executorch.tools.bench.tracing --page build/pages/tracing.md"
HEAD = """# Tracing

Programs with an ETRecord, run with events and without in turns. `lines`: events of operators, inside of delegates, too,
that have a line of Python, of all. `share`: the sum of their times of the time of `Method::execute`, median over the
executions; `calls`: of the instructions' times, which have in them what calling a kernel or a delegate takes. `plain`
and `traced`: least milliseconds that the one thread worked in an execution from Python, without and with events.
`per event`: what the difference is for each event of an operator; XNNPACK's own profiling is a part of it where it
runs, and operators have taken the near caches when an event is written. By itself (`etdump_events`, both readings of
the clock included) an event of an operator takes {operator} ns, one of a part of a delegate {delegate} ns.
Processor: {processor}. Written by

    {command}

| program | events | lines | share | calls | plain ms | traced ms | overhead | per event |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
"""


class Choice(torch.nn.Module):
    """torch.cond between two layers of some size."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(512, 512), torch.nn.Linear(512, 512)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.cond(
            x.sum() > 0, lambda v: torch.relu(self.first(v)), lambda v: self.second(v).tanh(), (x,)
        )
        return torch.softmax(y, -1)


def cached_llama(width: int = 512) -> Method:
    """One step of decoding with a cache of 128 positions."""
    inner = width * 11 // 4 // 32 * 32
    shape = Shape(width, layers=4, heads=8, kv_heads=4, inner=inner, vocabulary=4096, longest=128)
    inputs = (torch.ones(1, 1, dtype=torch.int64), torch.tensor([7]))
    return Method(LlamaStyle(shape, cache=True).eval(), inputs)


@dataclass(frozen=True)
class Row:
    make: Callable[[], Method]
    xnnpack: bool = False


ROWS = {
    "MobileNetV2, kernels": Row(lambda: make_example("mv2").forward),
    "BERT, kernels": Row(lambda: make_example("bert").forward),
    "Llama with a cache, kernels": Row(cached_llama),
    "cond, kernels": Row(lambda: Method(Choice().eval(), (torch.ones(64, 512),))),
    "MobileNetV2, XNNPACK": Row(lambda: make_example("mv2").forward, True),
    "MobileNetV2, XNNPACK, int8": Row(lambda: quantized_method(make_example("mv2").forward), True),
    "BERT, XNNPACK": Row(lambda: make_example("bert").forward, True),
    "Llama with a cache, XNNPACK": Row(cached_llama, True),
    "Llama of width 1536, XNNPACK": Row(lambda: cached_llama(1536), True),
}


@dataclass(frozen=True)
class Traced:
    """Times in milliseconds."""

    events: int
    lines: int
    share: float
    calls: float
    plain: float
    traced: float

    @property
    def overhead(self) -> float:
        return self.traced / self.plain - 1

    @property
    def per_event(self) -> float:
        """Microseconds."""
        return 1e3 * (self.traced - self.plain) / self.events


def lower(row: Row) -> tuple[bytes, ETRecord, list[Any]]:
    method = row.make()
    program = to_edge_transform_and_lower(
        method.export(),
        partitioner=[XnnpackPartitioner()] if row.xnnpack else None,
        generate_etrecord=True,
    ).to_executorch()
    return bytes(program.buffer), program.get_etrecord(), pytree.tree_leaves(method.inputs)


def measure(data: bytes, record: ETRecord, inputs: list[Any], repeats: int) -> Traced:
    runtime = Runtime.get()
    programs = [runtime.load_program(data, enable_etdump=traced) for traced in (False, True)]
    methods = [program.load_method("forward") for program in programs]
    times: list[list[float]] = [[], []]
    for _ in range(repeats):
        for method, taken in zip(methods, times, strict=True):
            start = time.thread_time()
            method.execute(inputs)
            taken.append(1e3 * (time.thread_time() - start))
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "dump")
        programs[1].write_etdump_result_to_file(path, None)
        inspector = Inspector(etdump_path=path, etrecord=record)
    (block,) = (block for block in inspector.event_blocks if block.name == "Execute")
    parts = [event for event in block.events if is_operator(event)]
    (whole,) = (event for event in block.events if event.name == "Method::execute")
    calls = [event for event in block.events if event.name.endswith("_CALL")]

    def share(events: list[Event]) -> float:
        return statistics.median(
            sum(event.perf_data.raw[run] for event in events) / whole.perf_data.raw[run]
            for run in range(1, repeats)
        )

    return Traced(
        len(parts),
        sum(bool(event.stack_traces) for event in parts),
        share(parts),
        share(calls),
        min(times[0]),
        min(times[1]),
    )


def is_operator(event: Event) -> bool:
    return bool(event.is_delegated_op) or event.name.startswith("native_call_")


def line(name: str, found: Traced) -> str:
    cells = [
        name, found.events, found.lines, f"{found.share:.1%}", f"{found.calls:.1%}",
        f"{found.plain:.3f}", f"{found.traced:.3f}", f"{found.overhead:+.1%}", f"{found.per_event:.2f} µs",
    ]  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", metavar="network", help=", ".join(ROWS))
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--page", type=Path, help="write the Markdown page")
    options = parser.parse_args(argv)
    torch.manual_seed(0)
    _unsafe_reset_threadpool(1)
    lines = []
    for name in options.networks or ROWS:
        lines.append(line(name, measure(*lower(ROWS[name]), options.repeats)))
        print(lines[-1], flush=True)
    if options.page:
        events = dict(
            line.split() for line in run(binary("tools/bench/etdump_events")).stdout.splitlines()
        )
        head = HEAD.format(processor=processor(), command=COMMAND, **events)
        pages.write(options.page, head + "\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
