# SPDX-License-Identifier: BSD-3-Clause
"""The graph of a method as its file alone tells it: calls, what they read and write, operators in payloads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import torch

from executorch.devtools.commands import owners
from executorch.devtools.commands.planned import Planned, planned_tensors
from executorch.devtools.commands.program_file import (
    Call,
    Constant,
    ProgramFile,
    calls_of,
)
from executorch.devtools.commands.times import Execution
from executorch.devtools.commands.view.graph import (
    BY_KERNELS,
    DELEGATE,
    INPUT,
    OUTPUT,
    GraphNode,
    Weight,
    described,
)
from executorch.devtools.commands.view.weights import weight_of
from executorch.exir import schema
from executorch.exir.scalar_type import ScalarType
from executorch.exir.tensor import get_scalar_type


def nodes_of_plan(
    file: ProgramFile, plan: schema.ExecutionPlan, execution: Execution | None
) -> list[GraphNode]:
    return _Plan(file, plan, execution).nodes()


class _Plan:
    def __init__(
        self, file: ProgramFile, plan: schema.ExecutionPlan, execution: Execution | None
    ) -> None:
        self._file, self._plan, self._execution = file, plan, execution
        self._made: dict[int, list[Planned]] = {}
        for each in planned_tensors(plan):
            if each.maker is not None:
                self._made.setdefault(each.first, []).append(each)
        self._constants = {each.index: each for each in file.constants}
        self._sizes = owners.constant_bytes(file)
        self._delegates = {
            each.index: each for each in owners.delegates(file) if each.method == plan.name
        }
        self._writers: dict[int, int] = {}
        self._at: dict[tuple[int, ...], int] = {}

    def nodes(self) -> list[GraphNode]:
        found = []
        for value in self._plan.inputs:
            self._write([value], len(found))
            found.append(GraphNode(f"input {value}", INPUT, outputs=tuple(self._kinds([value]))))
        for place, call in enumerate(calls_of(self._plan)):
            found += self._of_call(call, place, len(found))
        read = tuple(self._read(self._plan.outputs))
        return [*found, GraphNode("output", OUTPUT, inputs=read)]

    def _of_call(self, call: Call, place: int, at: int) -> Iterator[GraphNode]:
        made = self._results(call, place)
        read = tuple(self._read(each for each in self._items(call.arguments) if each not in made))
        delegate = self._delegates[call.delegate] if call.delegate is not None else None
        module = f"{call.name} {call.delegate}" if delegate is not None else ""
        seconds = self._execution.seconds_of(call.instruction) if self._execution else None
        own = delegate.payload_bytes + delegate.named_bytes if delegate is not None else 0
        inside = sum(size for _, _, size in (delegate and delegate.operators) or ())
        yield GraphNode(
            f"call {call.instruction}",
            call.name if delegate is None else DELEGATE,
            module,
            inputs=read,
            outputs=tuple(self._kinds(made)),
            backend=call.name if delegate is not None else BY_KERNELS,
            num_bytes=self._sizes.get(call, 0) + max(0, own - inside),
            ms=None if seconds is None else 1e3 * seconds,
            weights=tuple(self._weights(call)),
            call=place,
        )
        self._write(made, at)
        for index, (kind, _, size) in enumerate((delegate and delegate.operators) or ()):
            name = f"call {call.instruction}, operator {index}"
            yield GraphNode(name, kind, module, backend=call.name, num_bytes=size, call=place)

    def _items(self, values: object) -> Iterator[int]:
        for value in values:  # type: ignore[attr-defined]
            held = self._plan.values[value].val
            is_list = isinstance(held, (schema.TensorList, schema.OptionalTensorList))
            yield from held.items if is_list else [value]

    def _write(self, values: Sequence[int], at: int) -> None:
        for value in values:
            self._writers[value] = at
            if (where := self._location(value)) is not None:
                self._at[where] = at

    def _results(self, call: Call, place: int) -> list[int]:
        """A kernel's result is its last argument; of a delegate, what no call had before."""
        if call.delegate is None:
            return list(self._items(call.arguments[-1:]))
        return [each.value for each in self._made.get(place, ())]

    def _read(self, values: object) -> Iterator[int]:
        """A view that has no call of its own is what was last written to its place."""
        found = (
            self._writers.get(item, self._at.get(self._location(item) or ()))
            for item in self._items(values)
        )
        yield from dict.fromkeys(place for place in found if place is not None)

    def _location(self, value: int) -> tuple[int, ...] | None:
        held = self._plan.values[value].val if value >= 0 else None
        where = held.allocation_info if isinstance(held, schema.Tensor) else None
        if where is None:
            return None
        return where.memory_id, where.memory_offset_high, where.memory_offset_low

    def _kinds(self, values: object) -> Iterator[str]:
        for value in self._items(values):
            held = self._plan.values[value].val
            yield _kind(held) if isinstance(held, schema.Tensor) else type(held).__name__

    def _weights(self, call: Call) -> Iterator[Weight]:
        for item in self._items(call.arguments):
            held = self._plan.values[item].val if item >= 0 else None
            index = held.data_buffer_idx if isinstance(held, schema.Tensor) else 0
            if index and held.allocation_info is None and index in self._constants:
                constant = self._constants[index]
                yield weight_of(
                    constant.name, _kind(held), constant.num_bytes, self._values(constant, held)
                )

    def _values(self, constant: Constant, tensor: schema.Tensor) -> torch.Tensor | None:
        dtype = get_scalar_type(ScalarType(tensor.scalar_type))
        if not dtype.is_floating_point and dtype not in (torch.int8, torch.uint8, torch.int16):
            return None
        count = prod(tensor.sizes)
        if not count or count * dtype.itemsize > constant.num_bytes:
            return None
        data = self._file.data[constant.offset : constant.offset + count * dtype.itemsize]
        return torch.frombuffer(bytearray(data), dtype=dtype)


def _kind(tensor: schema.Tensor) -> str:
    name = ScalarType(tensor.scalar_type).name.lower()
    dtype = str(get_scalar_type(ScalarType(tensor.scalar_type))) if name else ""
    return described(dtype.removeprefix("torch."), tensor.sizes, tensor.dim_order)
