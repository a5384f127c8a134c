# SPDX-License-Identifier: BSD-3-Clause
"""A method's planned memory at its peak and over time, by arena."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from executorch.devtools.commands.origins import Origins
from executorch.devtools.commands.output.report import Picture, Row, Table
from executorch.devtools.commands.output.svg import Box, layout, steps
from executorch.devtools.commands.output.words import number_of, sized
from executorch.devtools.commands.planned import Planned, alive_bytes, planned_tensors
from executorch.devtools.commands.program_file import Call, calls_of
from executorch.exir import schema


@dataclass(frozen=True)
class Memory:
    """`peak`: the place, among the method's calls, with the most bytes alive. `owners`: rows of the tensors that are
    alive there, the largest first."""

    plan: schema.ExecutionPlan
    calls: Sequence[Call]
    tensors: Sequence[Planned]
    alive: Sequence[int]
    peak: int
    owners: Sequence[Row]

    def table(self) -> Table:
        name = self.plan.name
        return Table(f"peak of {name}", f"Alive at the peak of {name}", self.owners, "bytes")

    def pictures(self) -> list[Picture]:
        name, count, most = self.plan.name, len(self.calls), self.alive[self.peak]
        last = f"{number_of(count, 'call')}, at most {sized(most)} at call {self.peak}"
        title = f"Planned memory of {name}"
        whole = steps(title, self.alive, f"call 0 of {name}", last, self.peak)
        arenas = sorted({each.arena for each in self.tensors if each.num_bytes})
        return [Picture(title, whole), *(self._layout(arena) for arena in arenas)]

    def _layout(self, arena: int) -> Picture:
        boxes = [
            Box(
                each.first,
                each.last,
                each.offset,
                each.offset + each.num_bytes,
                each.label,
                f"{each.label}, {sized(each.num_bytes)}, made by {each.made_by}, calls {each.first} to {each.last}",
                each.first <= self.peak <= each.last,
            )
            for each in sorted(self.tensors, key=lambda each: -each.num_bytes)
            if each.arena == arena and each.num_bytes
        ]
        high = max(box.high for box in boxes)
        title = f"Arena {arena} of {self.plan.name}; in orange: alive at call {self.peak}"
        last = f"{number_of(len(self.calls), 'call')}, {sized(high)} high"
        return Picture(title, layout(title, boxes, len(self.calls), high, "call 0", last))


def memory_of(plan: schema.ExecutionPlan, origins: Origins | None) -> Memory | None:
    """None where nothing is planned."""
    calls, tensors = list(calls_of(plan)), planned_tensors(plan)
    alive = alive_bytes(tensors, len(calls))
    if not alive or not max(alive):
        return None
    peak = alive.index(max(alive))
    held = [each for each in tensors if each.first <= peak <= each.last and each.num_bytes]
    rows = [_owner(each, origins) for each in sorted(held, key=lambda each: -each.num_bytes)]
    return Memory(plan, calls, tensors, alive, peak, rows)


def _owner(tensor: Planned, origins: Origins | None) -> Row:
    found = origins.of_call(tensor.maker) if origins is not None and tensor.maker else []
    return {
        "tensor": tensor.label,
        "made by": tensor.made_by,
        "bytes": tensor.num_bytes,
        "arena": tensor.arena,
        "line": str(found[0]) if found else "",
    }
