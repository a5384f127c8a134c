# SPDX-License-Identifier: BSD-3-Clause
"""What every operator of a program file gives, those inside of delegates included, on the runtime of this package.

The file is written anew with delegates that also give what they keep to themselves (exir/backend/payload.py), into
memory of its own. Fewer operators of a delegate may be joined then.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

import torch

from executorch.devtools.commands import given
from executorch.devtools.commands.program_file import calls_of, is_constant, payload_reader
from executorch.devtools.devices.here import Here
from executorch.devtools.devices.job import Device, Job, Records
from executorch.devtools.inspector import Inspector
from executorch.exir import schema
from executorch.exir._serialize._program import deserialize_pte_binary, serialize_pte_binary
from executorch.exir.backend.payload import PayloadValue
from executorch.exir.tensor import make_allocation_info, num_bytes_from_shape_and_dtype

_ALIGNMENT = 64


@dataclass(frozen=True)
class Found:
    """`instruction`: whose call it is. `delegate_handle`: what the payload calls the operator, None outside of
    delegates. `values`: its outputs, in the layout that they have there; inside of delegates the
    last one. `limits`: what it cuts its numbers to."""

    instruction: int
    name: str
    delegate_handle: int | None
    values: tuple[torch.Tensor, ...]
    limits: tuple[float, float] | None = None


def found_values(job: Job, device: Device | None = None) -> list[Found]:
    """Of a job whose program is a file's bytes, in the order of execution; here unless a device is given. RuntimeError
    when the program does not load or run there."""
    assert isinstance(job.program, bytes)
    method = job.method
    program = deserialize_pte_binary(job.program, verify=True)
    (plan,) = (each for each in program.program.execution_plan if each.name == method)
    exposed = _expose(program.program, plan)
    changed = bytes(serialize_pte_binary(program, extract_delegate_segments=True))
    inputs = given.copies(job.inputs)
    changed_job = replace(job, program=changed, inputs=inputs, value_bytes=_num_bytes(plan))
    values = _run(changed_job, device or Here())
    found = []
    for call in calls_of(plan):
        recorded = values.get(call.instruction)
        if not recorded:
            continue
        if call.delegate is None:
            found.append(Found(call.instruction, call.name, None, _tensors(recorded[-1])))
            continue
        for each in exposed.get(call.instruction, ()):
            outputs = _tensors(recorded[each.argument])
            found.append(
                Found(call.instruction, call.name, each.debug_handle, outputs, each.limits)
            )
    return [each for each in found if each.values]


def _tensors(recorded: Any) -> tuple[torch.Tensor, ...]:
    """An operator with several outputs has a list of them."""
    listed = recorded if isinstance(recorded, (list, tuple)) else [recorded]
    return tuple(each for each in listed if isinstance(each, torch.Tensor))


def _expose(
    program: schema.Program, plan: schema.ExecutionPlan
) -> Mapping[int, list[PayloadValue]]:
    """Changes the delegates of a plan and their calls; gives what they write, by instruction."""
    arena = len(plan.non_const_buffer_sizes)
    largest = 0
    exposed: dict[int, list[PayloadValue]] = {}
    for call in calls_of(plan):
        reader = payload_reader(call.name) if call.delegate is not None else None
        if reader is None or not hasattr(reader, "expose"):
            continue
        delegate = plan.delegates[call.delegate]
        blob = bytes(program.backend_delegate_data[delegate.processed.index].data)
        changed, values = reader.expose(blob)
        plan.delegates[call.delegate] = replace(
            delegate, processed=_file(program, delegate.processed, changed)
        )
        offset = 0
        for value in sorted(values, key=lambda each: each.argument):
            if value.argument < len(call.arguments):
                continue
            plan.values.append(schema.EValue(_tensor(value, arena, offset)))
            offset += _rounded(value)
            instruction = plan.chains[0].instructions[call.instruction].instr_args
            instruction.args.append(len(plan.values) - 1)
        largest = max(largest, offset)
        exposed[call.instruction] = values
    plan.non_const_buffer_sizes.append(max(largest, _ALIGNMENT))
    return exposed


def _file(
    program: schema.Program, old: schema.BackendDelegateDataReference, data: bytes
) -> schema.BackendDelegateDataReference:
    """The place of a payload instead of `old`, which other delegates may have, too: no payload is left without one."""
    places = [each.processed for plan in program.execution_plan for each in plan.delegates]
    index = len(program.backend_delegate_data)
    if sum(place == old for place in places) > 1:
        program.backend_delegate_data.append(schema.BackendDelegateInlineData(data))
    else:
        index = old.index
        program.backend_delegate_data[index] = schema.BackendDelegateInlineData(data)
    return schema.BackendDelegateDataReference(schema.DataLocation.INLINE, index)


def _rounded(value: PayloadValue) -> int:
    size = num_bytes_from_shape_and_dtype(torch.Size(value.sizes), value.dtype)
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _tensor(value: PayloadValue, arena: int, offset: int) -> schema.Tensor:
    from executorch.exir.tensor import scalar_type_enum

    return schema.Tensor(
        scalar_type=scalar_type_enum(value.dtype),
        storage_offset=0,
        sizes=list(value.sizes),
        dim_order=list(range(len(value.sizes))),
        requires_grad=False,
        data_buffer_idx=0,
        allocation_info=make_allocation_info(arena, offset),
        layout=0,
        shape_dynamism=schema.TensorShapeDynamism.DYNAMIC_BOUND,
    )


def _num_bytes(plan: schema.ExecutionPlan) -> int:
    """Room for all that one run records, and some more."""
    total = 1 << 20
    for call in calls_of(plan):
        for argument in call.arguments:
            value = plan.values[argument].val
            if isinstance(value, schema.Tensor) and not is_constant(value):
                total += prod(value.sizes) * 8 + _ALIGNMENT
    return total


def _run(job: Job, device: Device) -> dict[int, list[Any]]:
    """What one run records, by instruction: the last output of an operator, all arguments of a delegate."""
    ran = device.run(replace(job, records=Records.VALUES, returns=False))
    with tempfile.TemporaryDirectory() as folder:
        dump, values = Path(folder) / "dump", Path(folder) / "values"
        dump.write_bytes(ran.dump)
        values.write_bytes(ran.values)
        inspector = Inspector(etdump_path=str(dump), debug_buffer_path=str(values))
    return {
        event._instruction_id: event.debug_data
        for block in inspector.event_blocks
        if block.name == "Execute"
        for event in block.events
        if event.debug_data and event._instruction_id is not None and event._instruction_id >= 0
    }
