# SPDX-License-Identifier: BSD-3-Clause
"""The files of `view`, and what they know of the nodes of a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from torch.export import ExportedProgram

from executorch.devtools.commands import given, owners
from executorch.devtools.commands.doctor import forecast
from executorch.devtools.commands.origins import Origins
from executorch.devtools.commands.output.report import Table
from executorch.devtools.commands.planned import alive_bytes, planned_tensors
from executorch.devtools.commands.program_file import Call, ProgramFile, calls_of
from executorch.devtools.commands.times import Execution, execution
from executorch.devtools.commands.view.calls import nodes_of_plan
from executorch.devtools.commands.view.exported import nodes_of
from executorch.devtools.commands.view.graph import BY_KERNELS, Graph, GraphNode
from executorch.devtools.inspector._graphs import FORWARD, one_method
from executorch.exir import schema
from executorch.exir.program._etrecord import ETRecord


@dataclass(frozen=True)
class Source:
    """One of the files, with what was given for it."""

    title: str
    file: ProgramFile | None = None
    record: ETRecord | None = None
    exported: ExportedProgram | None = None
    executions: Mapping[str, Execution] = field(default_factory=dict)

    def graphs(self) -> list[Graph]:
        return self._graphs

    @cached_property
    def _graphs(self) -> list[Graph]:
        if self.exported is not None:
            return [Graph(self.title, FORWARD, nodes_of(self.exported, lambda node, _: node))]
        if self.file is None:
            return [self._of_method(name, None) for name in self._programs]
        return [self._of_method(plan.name, plan) for plan in self.file.program.execution_plan]

    @property
    def tables(self) -> list[Table]:
        is_several = len(self.executions) > 1
        return [
            table
            for name, each in self.executions.items()
            for table in each.tables(
                f"{self.title} {name} ", f": {self.title}{f', {name}' if is_several else ''}"
            )
        ]

    @property
    def notes(self) -> list[str]:
        if self.file is not None and self.record is None:
            return ["Modules, lines and reasons need the record of its model: --etrecord."]
        return []

    @cached_property
    def _programs(self) -> Mapping[str, ExportedProgram]:
        edge = self.record.edge_dialect_program if self.record is not None else None
        return edge if isinstance(edge, Mapping) else {} if edge is None else {FORWARD: edge}

    def _of_method(self, method: str, plan: schema.ExecutionPlan | None) -> Graph:
        program = one_method(self._programs, method)
        memory: Sequence[int] = ()
        if plan is not None:
            count = len(list(calls_of(plan)))
            memory = alive_bytes(planned_tensors(plan), count)
            if not count:  # a constant of the file, which no program of the record is for
                program = None
        if program is not None:
            nodes = nodes_of(program, _Handles(self, method, plan).known)
        elif self.file is not None and plan is not None:
            nodes = nodes_of_plan(self.file, plan, self.executions.get(method))
        else:
            nodes = []
        return Graph(self.title, method, nodes, memory if any(memory) else ())


class _Handles:
    """What a record and its file say of the nodes that have a debug handle."""

    def __init__(self, source: Source, method: str, plan: schema.ExecutionPlan | None) -> None:
        record = source.record
        assert record is not None
        calls = list(calls_of(plan)) if plan is not None else []
        self._places = {call.instruction: place for place, call in enumerate(calls)}
        self._instructions = _by_handle(one_method(record._debug_handle_map, method))
        self._backends = _backends(one_method(record._delegate_map, method), calls)
        backends = set(self._backends.values())
        self._reasons = forecast(backends, record, method) if backends else {}
        self._sizes = _sizes(source.file, method, calls, self._instructions)
        self._ms = _milliseconds(source.executions.get(method), self._instructions)

    def known(self, node: GraphNode, handle: int | None) -> GraphNode:
        if handle is None or handle not in self._instructions:
            return node
        instruction = self._instructions[handle]
        backend = self._backends.get(instruction, BY_KERNELS)
        size = node.num_bytes if self._sizes is None else self._sizes.get(handle, 0)
        return replace(
            node,
            backend=backend,
            why=self._reasons.get(node.name, "") if backend == BY_KERNELS else "",
            num_bytes=size,
            ms=self._ms.get(node.name, self._ms.get(f"handle {handle}")),
            call=self._places.get(instruction),
        )


def _by_handle(by_instruction: Mapping[object, object] | None) -> dict[int, int]:
    found: dict[int, int] = {}
    for instruction, handles in (by_instruction or {}).items():
        listed = [handles] if isinstance(handles, int) else handles or ()
        found.update((handle, int(str(instruction))) for handle in listed)  # type: ignore[attr-defined]
    return found


def _backends(delegates: Mapping[object, Mapping] | None, calls: Sequence[Call]) -> dict[int, str]:
    """By instruction; of the file, where there is one."""
    if calls:
        return {call.instruction: call.name for call in calls if call.delegate is not None}
    return {int(str(place)): str(each["name"]) for place, each in (delegates or {}).items()}


def _sizes(
    file: ProgramFile | None, method: str, calls: Sequence[Call], instructions: Mapping[int, int]
) -> dict[int, int] | None:
    """Bytes of constants in the file, at the first handle of a call, and at those that a payload's operators have."""
    if file is None:
        return None
    found: dict[int, int] = {}
    first = _first_handles(instructions)
    of_call = owners.constant_bytes(file)
    for call in calls:
        if call.instruction in first:
            found[first[call.instruction]] = of_call.get(call, 0)
    for each in owners.delegates(file):
        for _, handle, size in each.operators or () if each.method == method else ():
            if handle is not None:
                found[handle] = found.get(handle, 0) + size
    return found


def _milliseconds(run: Execution | None, instructions: Mapping[int, int]) -> dict[str, float]:
    """By node; `handle N`: the first of a delegate that does not say what its parts took."""
    found: dict[str, float] = {}
    inside = set()
    for span in run.operators if run is not None else ():
        if span.origin is not None:
            found[span.origin.node] = found.get(span.origin.node, 0.0) + 1e3 * span.seconds
            inside.add(span.instruction)
    first = _first_handles(instructions)
    for span in run.spans if run is not None else ():
        if span.is_call and span.instruction not in inside and span.instruction in first:
            found[f"handle {first[span.instruction]}"] = 1e3 * span.seconds
    return found


def _first_handles(instructions: Mapping[int, int]) -> dict[int, int]:
    return {place: handle for handle, place in reversed(instructions.items())}


def read(path: Path, record: Path | None, dump: Path | None, title: str) -> Source:
    """By the ending of its name; ValueError or OSError for what is none of these, or corrupted."""
    if path.suffix in (".pt2", ".etrecord"):
        for option, value in (("--etrecord", record), ("--etdump", dump)):
            if value is not None:
                raise ValueError(f"{option} {value}: expected a .pte file that it is for: {path}")
    if path.suffix == ".pt2":
        return Source(title, exported=given.exported_program(path))
    if path.suffix == ".etrecord":
        return Source(title, record=given.record(path))
    file = ProgramFile(path)
    known = given.record(record) if record is not None else None
    return Source(title, file, known, executions=_executions(file, known, dump))


def _executions(
    file: ProgramFile, record: ETRecord | None, dump: Path | None
) -> dict[str, Execution]:
    """Of the only method: an ETDump does not say which one ran."""
    if dump is None:
        return {}
    method = file.plan().name
    events = given.events(dump, record)
    origins = Origins(record) if record is not None else None
    return {method: execution(file, method, events, origins)}
