# SPDX-License-Identifier: BSD-3-Clause
"""Which backend is the fastest for a model here: each of those that are, and kernels alone, run it in turns."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from torch.export import ExportedProgram

from executorch.devtools.commands.bench import compare
from executorch.devtools.commands.output.report import Row, Table
from executorch.devtools.commands.program_file import ProgramFile
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.error import ExportError
from executorch.runtime import Runtime

_KERNELS = "none"  # as --backend calls them
_TURNS, _TURN_NS = 9, 50_000_000
_TITLE = "This model on each backend that is here"


@dataclass
class Lowered:
    """A model as one backend has it; `rounds`: nanoseconds of the runs of each turn."""

    backend: str
    method: Any
    delegates: int
    outside: int
    rounds: list[list[int]] = field(default_factory=list)

    @property
    def fastest(self) -> int:
        return min(min(each) for each in self.rounds)


def on_each_backend(exported: ExportedProgram, values: Sequence[Any]) -> tuple[list[str], Table]:
    """What to say of it, and the times. `values`: the inputs, flat."""
    lowered, refused = [], []
    for name in (_KERNELS, *_here()):
        try:
            lowered.append(_lowered(name, exported))
        except (ExportError, RuntimeError) as problem:
            refused.append(f"{name} refuses it: {str(problem).splitlines()[0]}")
    _measure(lowered, values)
    lowered.sort(key=lambda each: each.fastest)
    rows = [_row(each, lowered[0]) for each in lowered]
    return [_sentence(rows), *refused], Table("backends", _TITLE, rows, "ms")


def _manifests() -> dict[str, Any]:
    return import_module("executorch.backends.discovery").backends()


def _here() -> list[str]:
    registered = set(Runtime.get().backend_registry.registered_backend_names)
    return [
        name
        for name, each in _manifests().items()
        if each.partitioner and each.id in registered and not each.why_absent()
    ]


def _lowered(name: str, exported: ExportedProgram) -> Lowered:
    how = {} if name == _KERNELS else _manifests()[name].lowering()
    edge = to_edge_transform_and_lower(exported, partitioner=how.get("partitioners"))
    data = bytes(edge.to_executorch().buffer)
    calls = [each.delegate is not None for each in ProgramFile(Path(name), data).calls]
    method = Runtime.get().load_program(data).load_method("forward")
    return Lowered(name, method, calls.count(True), calls.count(False))


def _measure(all_lowered: Sequence[Lowered], values: Sequence[Any]) -> None:
    """As many runs make a turn as fit into its time; every second turn has them in the other order."""
    runs = {each.backend: 1 for each in all_lowered}
    for turn in range(_TURNS + 1):
        for each in all_lowered if turn % 2 else reversed(all_lowered):
            taken = [_taken(each.method, values) for _ in range(runs[each.backend] + 1)][1:]
            if turn:
                each.rounds.append(taken)
            else:
                runs[each.backend] = max(1, min(100, _TURN_NS // max(1, min(taken))))


def _taken(method: Any, values: Sequence[Any]) -> int:
    start = time.perf_counter_ns()
    method.execute(values)
    return time.perf_counter_ns() - start


def _row(each: Lowered, first: Lowered) -> Row:
    found = compare(first.rounds, each.rounds)
    return {
        "backend": each.backend,
        "ms": each.fastest / 1e6,
        "ratio": found["ratio"],
        "low": found["low"],
        "high": found["high"],
        "delegates": each.delegates,
        "operators outside": each.outside,
    }


def _sentence(rows: Sequence[Row]) -> str:
    if len(rows) == 1:
        return "No other backend is here."
    first, second = rows[:2]
    interval = f"{second['ratio']:.2f} [{second['low']:.2f}, {second['high']:.2f}]"
    if second["low"] <= 1:
        return f"{first['backend']} and {second['backend']} are equally fast here: {interval}."
    return f"{first['backend']} is the fastest here; {second['backend']} takes {interval} times as long."
