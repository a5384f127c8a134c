# SPDX-License-Identifier: BSD-3-Clause
"""Every byte of a program file has one owner: the parts of a file, and who reads its constants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from executorch.devtools.commands.program_file import Call, ProgramFile
from executorch.exir import schema
from executorch.exir._serialize._codec import program_codec
from executorch.exir.backend.lowering.payload.blocks import Place, places_in

PARTS = ("program", "constants", "start values", "delegates", "named data", "unnamed", "padding")


@dataclass(frozen=True)
class Stretch:
    """Consecutive bytes of a file."""

    offset: int
    num_bytes: int
    part: str
    name: str


@dataclass(frozen=True)
class Delegated:
    """A delegate: the bytes of its payload, and of the named data that no delegate before it reads."""

    method: str
    index: int
    backend: str
    payload_bytes: int
    named_bytes: int
    operators: (
        tuple[tuple[str, int | None, int], ...] | None
    )  # kind, debug handle, bytes of constants
    parts: tuple[Place, ...] = ()  # of the payload, where its frame is known


def stretches(file: ProgramFile) -> list[Stretch]:
    """In the order of the file, without gaps: their sizes add up to the file's."""
    found = sorted(
        [Stretch(0, file.program_bytes, "program", "program"), *_segments(file)],
        key=lambda each: (each.offset, each.num_bytes),
    )
    whole: list[Stretch] = []
    end = 0
    for each in found:
        if each.offset > end:
            whole.append(Stretch(end, each.offset - end, "padding", "padding"))
        if each.offset >= end:  # a segment that another one contains has an owner already
            whole.append(each)
            end = each.offset + each.num_bytes
    if end < len(file.data):
        whole.append(Stretch(end, len(file.data) - end, "padding", "padding"))
    return whole


def _segments(file: ProgramFile) -> Iterator[Stretch]:
    program = file.program
    taken = set()
    held = program.constant_segment
    if held is not None and held.offsets:
        taken.add(held.segment_index)
        yield from (
            Stretch(each.offset, each.num_bytes, "constants", each.name)
            for each in file.constants
            if each.num_bytes
        )
    named = {each.segment_index: "start values" for each in program.mutable_data_segments or ()}
    owners = {index: ("start values", name) for index, name in named.items()}
    for plan in program.execution_plan:
        for index, delegate in enumerate(plan.delegates):
            if delegate.processed.location == schema.DataLocation.SEGMENT:
                name = f"{plan.name}: {delegate.id} {index}"
                owners.setdefault(delegate.processed.index, ("delegates", name))
    for each in program.named_data or ():
        owners.setdefault(each.segment_index, ("named data", each.key))
    for index in range(len(program.segments)):
        offset, size = file.place(index)
        if index not in taken and size:
            yield Stretch(offset, size, *owners.get(index, ("unnamed", f"segment {index}")))


def parts(file: ProgramFile) -> dict[str, int]:
    """Bytes by part, largest first. What stands inside of the program's tables in older files counts where it
    belongs, too."""
    found = Counter[str]()
    for each in stretches(file):
        found[each.part] += each.num_bytes
    program = file.program
    inside = {
        "constants": sum(len(buffer.storage) for buffer in program.constant_buffer),
        "delegates": sum(len(blob.data) for blob in program.backend_delegate_data),
    }
    for part, num_bytes in inside.items():
        found[part] += num_bytes
        found["program"] -= num_bytes
    return {part: num_bytes for part, num_bytes in found.most_common() if num_bytes}


def program_parts(file: ProgramFile) -> dict[str, int]:
    """What the tables of the program would be smaller by without each of these, and the rest."""
    program = replace(file.program, constant_buffer=[], backend_delegate_data=[])
    codec = program_codec()
    whole = len(codec.pack(program, {}))

    def without(**empty: list[object]) -> int:
        plans = [replace(plan, **empty) for plan in program.execution_plan]
        return whole - len(codec.pack(replace(program, execution_plan=plans), {}))

    found = {
        "values": without(values=[]),
        "instructions": without(chains=[]),
        "names of operators": without(operators=[]),
        "references to delegates": without(delegates=[]),
        "names and places of data": whole
        - len(codec.pack(replace(program, segments=[], named_data=[], constant_segment=None), {})),
    }
    rest = parts(file)["program"] - sum(found.values())
    return {**found, "the rest": rest}


def constant_bytes(file: ProgramFile) -> dict[Call | None, int]:
    """By the call that reads a constant first; None: nothing reads it."""
    found: dict[Call | None, int] = {}
    for constant in file.constants:
        reader = constant.readers[0] if constant.readers else None
        found[reader] = found.get(reader, 0) + constant.num_bytes
    return found


def delegates(file: ProgramFile) -> list[Delegated]:
    sizes = {each.key: file.place(each.segment_index)[1] for each in file.program.named_data or ()}
    segment_of = {each.key: each.segment_index for each in file.program.named_data or ()}
    seen: set[int] = set()

    def new_bytes(keys: Iterable[str | None]) -> int:
        total = 0
        for key in keys:
            if key in sizes and segment_of[key] not in seen:
                seen.add(segment_of[key])
                total += sizes[key]
        return total

    found = []
    for plan in file.program.execution_plan:
        for index, delegate in enumerate(plan.delegates):
            listed = file.payload_operators(delegate)
            operators = None
            named = 0
            if listed is not None:
                rows = []
                for each in listed:
                    own = new_bytes(constant.key for constant in each.constants)
                    inside = sum(
                        constant.num_bytes for constant in each.constants if constant.key is None
                    )
                    named += own
                    rows.append((each.kind, each.debug_handle, own + inside))
                operators = tuple(rows)
            payload = file.payload(delegate)
            about = (plan.name, index, delegate.id, len(payload), named, operators)
            found.append(Delegated(*about, tuple(places_in(payload))))
    return found
