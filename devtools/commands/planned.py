# SPDX-License-Identifier: BSD-3-Clause
"""Planned memory of a method over time: what is alive at each of its calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import torch

from executorch.devtools.commands.program_file import Call, calls_of
from executorch.exir import schema
from executorch.exir.scalar_type import ScalarType
from executorch.exir.tensor import get_scalar_type


@dataclass(frozen=True)
class Planned:
    """A tensor with a place in an arena; `first` and `last`: places among the method's calls; `maker`: None for an
    input."""

    value: int
    arena: int
    offset: int
    num_bytes: int
    sizes: tuple[int, ...]
    dtype: torch.dtype
    first: int
    last: int
    maker: Call | None

    @property
    def label(self) -> str:
        return f"{str(self.dtype).removeprefix('torch.')}{list(self.sizes)}"

    @property
    def made_by(self) -> str:
        return self.maker.name if self.maker is not None else "(input)"


def planned_tensors(plan: schema.ExecutionPlan) -> list[Planned]:
    calls = list(calls_of(plan))
    uses: dict[int, list[int]] = {}
    for place, call in enumerate(calls):
        for argument in call.arguments:
            value = plan.values[argument].val
            items = value.items if isinstance(value, schema.TensorList) else [argument]
            for item in items:
                uses.setdefault(item, []).append(place)
    found = []
    for index, entry in enumerate(plan.values):
        tensor = entry.val
        if not isinstance(tensor, schema.Tensor) or tensor.allocation_info is None:
            continue
        where = tensor.allocation_info
        steps = uses.get(index, [0])
        is_input = index in plan.inputs
        dtype = get_scalar_type(ScalarType(tensor.scalar_type))
        found.append(
            Planned(
                index,
                where.memory_id,
                (where.memory_offset_high << 32) | where.memory_offset_low,
                prod(tensor.sizes) * dtype.itemsize,
                tuple(tensor.sizes),
                dtype,
                0 if is_input else steps[0],
                len(calls) - 1 if index in plan.outputs else steps[-1],
                None if is_input or not calls else calls[steps[0]],
            )
        )
    return found


def alive_bytes(tensors: Sequence[Planned], num_calls: int) -> list[int]:
    """At each call; memory that several tensors share counts once."""
    begun: dict[int, list[Planned]] = {}
    for each in tensors:
        begun.setdefault(each.first, []).append(each)
    found, alive = [], list[Planned]()
    for place in range(num_calls):
        alive = [each for each in alive if each.last >= place] + begun.get(place, [])
        found.append(_covered(alive))
    return found


def _covered(tensors: Sequence[Planned]) -> int:
    total, arena, end = 0, -1, 0
    for each in sorted(tensors, key=lambda one: (one.arena, one.offset)):
        if each.arena != arena:
            arena, end = each.arena, 0
        total += max(0, each.offset + each.num_bytes - max(end, each.offset))
        end = max(end, each.offset + each.num_bytes)
    return total
