# SPDX-License-Identifier: BSD-3-Clause
"""The graph of a method as its file alone tells it: calls, what they read and write, operators in payloads."""

from __future__ import annotations

from collections.abc import Iterator
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

    def nodes(self) -> list[GraphNode]:
        found = []
        for value in self._plan.inputs:
            self._writers[value] = len(found)
            found.append(GraphNode(f"input {value}", INPUT, outputs=tuple(self._kinds([value]))))
        for place, call in enumerate(calls_of(self._plan)):
            found += self._of_call(call, place, len(found))
        read = tuple(self._read(self._plan.outputs))
        return [*found, GraphNode("output", OUTPUT, inputs=read)]

    def _of_call(self, call: Call, place: int, at: int) -> Iterator[GraphNode]:
        made = [each.value for each in self._made.get(place, ())]
        read = tuple(self._read(call.arguments))
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
        for value in made:
            self._writers[value] = at
        for index, (kind, _, size) in enumerate((delegate and delegate.operators) or ()):
            name = f"call {call.instruction}, operator {index}"
            yield GraphNode(name, kind, module, backend=call.name, num_bytes=size, call=place)

    def _items(self, values: object) -> Iterator[int]:
        for value in values:  # type: ignore[attr-defined]
            held = self._plan.values[value].val
            is_list = isinstance(held, (schema.TensorList, schema.OptionalTensorList))
            yield from held.items if is_list else [value]

    def _read(self, values: object) -> Iterator[int]:
        places = (self._writers[item] for item in self._items(values) if item in self._writers)
        yield from dict.fromkeys(places)

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
