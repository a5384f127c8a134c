# SPDX-License-Identifier: BSD-3-Clause
"""A program file as the commands see it: which call reads what, and where each byte stands."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from executorch.exir import schema
from executorch.exir._native import parse_program_header, verify_program
from executorch.exir._serialize._program import read_program
from executorch.exir.backend.payload import PayloadOperator
from executorch.exir.dump import operator_name

if TYPE_CHECKING:
    from executorch.exir.backend.partitioner import Partitioner


@dataclass(frozen=True)
class Call:
    """One instruction that computes; `instruction` counts within its chain, of which our programs have one.
    `delegate`: its index in the method's delegates, None for an operator."""

    method: str
    instruction: int
    name: str
    arguments: tuple[int, ...]
    delegate: int | None = None


@dataclass(frozen=True)
class Constant:
    """A tensor with bytes in the file; `readers` are calls that are given it."""

    index: int
    offset: int
    num_bytes: int
    tensor: schema.Tensor | None
    readers: tuple[Call, ...]

    @property
    def name(self) -> str:
        extra = self.tensor.extra_tensor_info if self.tensor else None
        return (extra.fully_qualified_name if extra else None) or f"constant {self.index}"


def plan_of(path: Path, method: str = "") -> schema.ExecutionPlan:
    """As ProgramFile(path).plan(method), and weights stay on the disk."""
    return _plan(path, program_of(path), method)


def program_of(path: Path) -> schema.Program:
    """As ProgramFile(path).program, and weights stay on the disk."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        data = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else b""
        return _read(path, data)


def _read(path: Path, data: Any) -> schema.Program:
    try:
        program = read_program(data)
        verify_program(data)
    except ValueError as problem:
        raise ValueError(f"{path}: expected a program file (.pte): {problem}") from problem
    return program


def _plan(path: Path, program: schema.Program, name: str) -> schema.ExecutionPlan:
    plans = {plan.name: plan for plan in program.execution_plan}
    chosen = name or ("forward" if "forward" in plans else min(plans))
    if chosen not in plans:
        raise ValueError(f"{path}: expected a method of {', '.join(plans)}, found {chosen}")
    return plans[chosen]


class ProgramFile:
    """Raises OSError for a file that cannot be read, ValueError for bytes that are no program or a corrupted one."""

    def __init__(self, path: Path, data: bytes | None = None) -> None:
        """`data`: the bytes of the file, where they are known; `path` is its name then."""
        self.path = path
        self.data = path.read_bytes() if data is None else data
        self.program = _read(path, self.data)
        header = parse_program_header(self.data)
        self.program_bytes = header.program_size if header else len(self.data)
        self._base = header.segment_base_offset if header else 0

    def place(self, segment: int) -> tuple[int, int]:
        """Offset in the file, and size."""
        found = self.program.segments[segment]
        return self._base + found.offset, found.size

    def payload(self, delegate: schema.BackendDelegate) -> bytes:
        where = delegate.processed
        if where.location == schema.DataLocation.INLINE:
            return bytes(self.program.backend_delegate_data[where.index].data)
        offset, size = self.place(where.index)
        return self.data[offset : offset + size]

    def payload_operators(self, delegate: schema.BackendDelegate) -> list[PayloadOperator] | None:
        """None when the backend does not say, or the payload is of a form that it does not know."""
        reader = payload_reader(delegate.id)
        try:
            return None if reader is None else reader.operators(self.payload(delegate))
        except ValueError:
            return None

    def plan(self, name: str = "") -> schema.ExecutionPlan:
        """Of `forward`, or of the first method by name, unless a name is given; ValueError for one that it has not."""
        return _plan(self.path, self.program, name)

    @cached_property
    def calls(self) -> list[Call]:
        return [call for plan in self.program.execution_plan for call in calls_of(plan)]

    @property
    def backends(self) -> set[str]:
        return {call.name for call in self.calls if call.delegate is not None}

    @cached_property
    def constants(self) -> list[Constant]:
        """Those of the constant segment, or of an older file's tables, in the order of the file."""
        tensors, readers = self._users()
        return [
            Constant(index, offset, size, tensors.get(index), tuple(readers.get(index, ())))
            for index, (offset, size) in enumerate(self._constant_places())
            if index > 0  # entry 0 is reserved
        ]

    def _constant_places(self) -> list[tuple[int, int]]:
        held = self.program.constant_segment
        if held is None or not held.offsets:
            return [(0, len(buffer.storage)) for buffer in self.program.constant_buffer]
        start, size = self.place(held.segment_index)
        ends = [*held.offsets[1:], size]
        return [(start + begin, end - begin) for begin, end in zip(held.offsets, ends, strict=True)]

    def _users(self) -> tuple[dict[int, schema.Tensor], dict[int, list[Call]]]:
        tensors: dict[int, schema.Tensor] = {}
        readers: dict[int, list[Call]] = {}
        for plan in self.program.execution_plan:
            for call in calls_of(plan):
                for index in {
                    each.data_buffer_idx for each in tensors_of(plan, call) if is_constant(each)
                }:
                    readers.setdefault(index, []).append(call)
            for entry in plan.values:
                if is_constant(entry.val):
                    tensors.setdefault(entry.val.data_buffer_idx, entry.val)
        return tensors, readers


def is_constant(value: Any) -> bool:
    return (
        isinstance(value, schema.Tensor)
        and value.data_buffer_idx > 0
        and value.allocation_info is None
    )


def tensors_of(plan: schema.ExecutionPlan, call: Call) -> Iterator[schema.Tensor]:
    """The tensors among a call's arguments, those in lists included."""
    for argument in call.arguments:
        value = plan.values[argument].val
        if isinstance(value, (schema.TensorList, schema.OptionalTensorList)):
            items = [plan.values[item].val for item in value.items if item >= 0]
        else:
            items = [value]
        yield from (item for item in items if isinstance(item, schema.Tensor))


def writes_tensors(plan: schema.ExecutionPlan, call: Call) -> bool:
    """False for calls whose result, their last argument, is a number: sizes of tensors, and arithmetic on them."""
    result = plan.values[call.arguments[-1]].val
    return isinstance(result, (schema.Tensor, schema.TensorList, schema.OptionalTensorList))


def calls_of(plan: schema.ExecutionPlan) -> Iterator[Call]:
    for chain in plan.chains:
        for position, instruction in enumerate(chain.instructions):
            what = instruction.instr_args
            place = (plan.name, position)
            if isinstance(what, schema.KernelCall):
                yield Call(*place, operator_name(plan, what), tuple(what.args))
            elif isinstance(what, schema.DelegateCall):
                backend = plan.delegates[what.delegate_index].id
                yield Call(*place, backend, tuple(what.args), what.delegate_index)


def partitioner_of(backend_id: str) -> Partitioner | None:
    """Of a backend, the one that users choose first; None when it has none, or there is no such backend. ValueError
    when its SDK is missing."""
    backends = import_module("executorch.backends.discovery").all_backends().values()
    found = next((each for each in backends if each.id == backend_id and each.partitioner), None)
    if found is not None and found.why_absent():
        raise ValueError(found.why_absent())
    return found.load(found.partitioner)() if found is not None else None


def payload_reader(backend_id: str) -> Any | None:
    """The module of exir/backend/payload.py's kind for a backend; None when it has none."""
    discovery = import_module("executorch.backends.discovery")
    for name in discovery.modules("payload_reader"):
        module = discovery.imported(name)
        names = module.BACKEND_ID
        if backend_id in ((names,) if isinstance(names, str) else names):
            return module
    return None
