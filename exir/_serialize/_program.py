# SPDX-License-Identifier: BSD-3-Clause
"""Program objects to .pte bytes and back: which segments a file has; the layout itself is native."""

import json
import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import lcm
from typing import Any, ClassVar

from executorch.exir._native import (
    FormatError,
    lay_out,
    parse_program_header,
    program_head,
    verify_program,
)
from executorch.exir._serialize._codec import program_codec
from executorch.exir._serialize._cord import Cord, Piece
from executorch.exir._serialize._dataclass import _DataclassEncoder
from executorch.exir._serialize._json import to_plain
from executorch.exir._serialize._named_data_store import NamedDataStoreOutput
from executorch.exir._serialize.data_serializer import DataEntry
from executorch.exir._serialize.padding import check_alignments
from executorch.exir.schema import (
    BackendDelegateDataReference,
    BackendDelegateInlineData,
    Buffer,
    DataLocation,
    DataSegment,
    NamedData,
    Program,
    SubsegmentOffsets,
)

DEFAULT_SEGMENT_ALIGNMENT = 128
_EMPTY_STORE = NamedDataStoreOutput([], {}, {})


@dataclass
class AlignedData:
    """Bytes, and the alignment of their first one."""

    data: bytes
    alignment: int = 1


@dataclass
class _ExtendedHeader:
    """What stands in a program file between the flatbuffer's identifier and its tables."""

    EXPECTED_MAGIC: ClassVar[bytes] = b"eh00"
    MINIMUM_LENGTH: ClassVar[int] = 24  # with program_size and segment_base_offset
    EXPECTED_LENGTH: ClassVar[int] = 32  # with segment_data_size
    NUM_HEAD_BYTES: ClassVar[int] = 64

    program_size: int
    segment_base_offset: int
    segment_data_size: int
    magic: bytes = EXPECTED_MAGIC
    length: int = EXPECTED_LENGTH

    @staticmethod
    def from_bytes(data: bytes) -> "_ExtendedHeader":
        """What the first bytes of a header say; `is_valid` tells whether it is one."""
        if len(data) < _ExtendedHeader.EXPECTED_LENGTH:
            raise ValueError(
                f"Not enough data for extended header: {len(data)} < {_ExtendedHeader.EXPECTED_LENGTH}"
            )
        magic, length, program, base, size = _HEADER.unpack_from(data)
        has_size = length > _ExtendedHeader.MINIMUM_LENGTH
        return _ExtendedHeader(program, base, size if has_size else 0, magic, length)

    def is_valid(self) -> bool:
        return self.magic == self.EXPECTED_MAGIC and self.length >= self.MINIMUM_LENGTH

    def to_bytes(self) -> bytes:
        return _HEADER.pack(
            self.EXPECTED_MAGIC,
            self.EXPECTED_LENGTH,
            self.program_size,
            self.segment_base_offset,
            self.segment_data_size,
        )


_HEADER = struct.Struct("<4sIQQQ")
_FLATBUFFER_HEAD = 8  # offset of the root table, file identifier


def _get_extended_header(program_data: bytes) -> _ExtendedHeader | None:
    """The header of a file; None when it has none."""
    head = bytes(program_data[: _ExtendedHeader.NUM_HEAD_BYTES])[_FLATBUFFER_HEAD:]
    if len(head) < _ExtendedHeader.EXPECTED_LENGTH:
        return None
    header = _ExtendedHeader.from_bytes(head)
    return header if header.is_valid() else None


def _insert_flatbuffer_header(
    flatbuffer_data: bytes, magic_regex: str, header_data: bytes
) -> bytes:
    """The flatbuffer with `header_data` behind its identifier, which `magic_regex` must match. The flatbuffer's
    alignment is kept where the header's length is a multiple of it."""
    if len(flatbuffer_data) < _FLATBUFFER_HEAD:
        raise ValueError(f"Flatbuffer data length {len(flatbuffer_data)} < {_FLATBUFFER_HEAD}")
    magic = flatbuffer_data[4:_FLATBUFFER_HEAD].decode("ascii", "replace")
    if not re.match(magic_regex, magic):
        raise ValueError(
            f"Flatbuffer data magic bytes {magic!r} does not match pattern /{magic_regex}/"
        )
    (root,) = struct.unpack_from("<I", flatbuffer_data)
    head = struct.pack("<I", root + len(header_data)) + flatbuffer_data[4:_FLATBUFFER_HEAD]
    return head + header_data + flatbuffer_data[_FLATBUFFER_HEAD:]


def _extract_delegate_payload(
    pte_data: bytes, backend_id: str, delegate_index: int = 0
) -> bytes | None:
    """The blob of the `delegate_index`-th delegate of a backend in a file; None when there is none."""
    program = deserialize_pte_binary(pte_data, verify=True).program
    mine = [
        delegate
        for plan in program.execution_plan
        for delegate in plan.delegates
        if delegate.id == backend_id
    ]
    if delegate_index >= len(mine):
        return None
    return bytes(program.backend_delegate_data[mine[delegate_index].processed.index].data)


@dataclass
class PTEFile:
    """A program with the data that its file carries beside it. `mutable_data[0]` is a placeholder,
    as is entry 0 of `program.constant_buffer`."""

    program: Program
    mutable_data: list[Buffer] | None = None
    named_data: NamedDataStoreOutput | None = None


@dataclass
class _Segment:
    size: int
    alignment: int
    parts: list[tuple[int, Piece]] = field(default_factory=list)  # (offset in the segment, bytes)


def _packed(buffers: Iterable[Buffer], alignment: int) -> tuple[_Segment, list[int]]:
    """One segment holding all buffers, and the offset of each."""
    blobs = [buffer.storage for buffer in buffers]
    offsets, size = lay_out([(len(blob), alignment) for blob in blobs])
    if blobs and not len(blobs[0]):
        offsets[0] = 0
    parts = [part for part in zip(offsets, blobs, strict=True) if len(part[1])]
    return _Segment(size, alignment, parts), offsets


class _SegmentList:
    """The segments of one file in the order of its directory."""

    def __init__(self) -> None:
        self.segments: list[_Segment] = []

    def add(self, segment: _Segment) -> int:
        self.segments.append(segment)
        return len(self.segments) - 1

    def add_blob(self, blob: bytes, alignment: int = 1) -> int:
        return self.add(_Segment(len(blob), alignment, [(0, blob)]))


def _extract_delegates(program: Program, segments: _SegmentList) -> Program:
    """`program` with its delegate blobs moved to segments, empty ones excepted; a blob in use twice
    is stored once."""
    inline: list[BackendDelegateInlineData] = []
    moved: dict[int, BackendDelegateDataReference] = {}

    def place(old: BackendDelegateDataReference) -> BackendDelegateDataReference:
        if old.location != DataLocation.INLINE:
            return old
        if old.index not in moved:
            blob = program.backend_delegate_data[old.index]
            if len(blob.data):
                where = (DataLocation.SEGMENT, segments.add_blob(blob.data))
            else:
                where = (DataLocation.INLINE, len(inline))
                inline.append(blob)
            moved[old.index] = BackendDelegateDataReference(*where)
        return moved[old.index]

    plans = [
        replace(plan, delegates=[replace(d, processed=place(d.processed)) for d in plan.delegates])
        for plan in program.execution_plan
    ]
    left = sorted(set(range(len(program.backend_delegate_data))) - moved.keys())
    if left:
        raise ValueError(
            f"backend_delegate_data {left}: no delegate of the program points to it; with extract_delegate_segments "
            "each inline blob belongs to a delegate, so that it becomes a segment"
        )
    return replace(program, execution_plan=plans, backend_delegate_data=inline)


def _add_named_data(named: NamedDataStoreOutput, segments: _SegmentList) -> list[NamedData]:
    alignments: dict[int, int] = {}
    for entry in named.pte_data.values():
        wanted = entry.alignment or 1
        alignments[entry.buffer_index] = lcm(alignments.get(entry.buffer_index, 1), wanted)
    index_of = {
        buffer: segments.add_blob(named.buffers[buffer], alignments[buffer])
        for buffer in alignments
    }
    return [NamedData(key, index_of[entry.buffer_index]) for key, entry in named.pte_data.items()]


def serialize_pte_binary(
    pte_file: PTEFile,
    *,
    extract_delegate_segments: bool = False,
    segment_alignment: int = DEFAULT_SEGMENT_ALIGNMENT,
    constant_tensor_alignment: int | None = None,
    delegate_alignment: int | None = None,
) -> Cord:
    """The bytes of a .pte file, as pieces: constants and blobs are referred to, not copied.
    `pte_file` stays as it is.

    Alignments: of each segment's start, of each constant in the constant segment, of inline
    delegate blobs (the last two 16 unless given)."""
    constant_alignment, blob_alignment = check_alignments(
        constant_tensor_alignment, delegate_alignment
    )
    program = pte_file.program
    segments = _SegmentList()
    if program.constant_buffer:
        segment, offsets = _packed(program.constant_buffer, constant_alignment)
        program = replace(
            program,
            constant_buffer=[],
            constant_segment=SubsegmentOffsets(segments.add(segment), offsets),
        )
    if any(len(buffer.storage) for buffer in pte_file.mutable_data or ()):
        segment, offsets = _packed(pte_file.mutable_data, 1)
        initial = SubsegmentOffsets(segments.add(segment), offsets)
        program = replace(program, mutable_data_segments=[initial])
    if extract_delegate_segments:
        program = _extract_delegates(program, segments)
    if pte_file.named_data is not None and pte_file.named_data.pte_data:
        program = replace(program, named_data=_add_named_data(pte_file.named_data, segments))
    sizes = [(segment.size, segment.alignment) for segment in segments.segments]
    starts, total = lay_out(sizes, segment_alignment)
    directory = [DataSegment(start, size) for start, (size, _) in zip(starts, sizes, strict=True)]
    flatbuffer = program_codec().pack(
        replace(program, segments=directory),
        {
            "Buffer.storage": constant_alignment,
            "BackendDelegateInlineData.data": blob_alignment,
        },
    )
    base_alignment = lcm(segment_alignment, *(alignment for _, alignment in sizes))
    cord = Cord(
        program_head(flatbuffer, total, max(constant_alignment, blob_alignment), base_alignment)
    )
    base = len(cord)
    for start, segment in zip(starts, segments.segments, strict=True):
        for offset, blob in segment.parts:
            cord.pad_to(base + start + offset).append(blob)
    return cord.pad_to(base + total) if total else cord


def _slice(data: memoryview, offset: int, size: int, what: str) -> memoryview:
    if offset + size > len(data):
        raise FormatError(
            f"{what}: {size} bytes at {offset} lie outside the {len(data)} bytes there are"
        )
    return data[offset : offset + size]


def _split(segment: memoryview, offsets: list[int], what: str) -> list[Buffer]:
    """The buffers of a segment; each ends where the next begins."""
    if not offsets:
        return []
    ends = [*offsets[1:], len(segment)]
    for begin, end in zip(offsets, ends, strict=True):
        if begin > end:
            raise FormatError(f"{what}: offset {begin} lies behind the next one, {end}")
    return [
        Buffer(bytes(_slice(segment, begin, end - begin, what)))
        for begin, end in zip(offsets, ends, strict=True)
    ]


def _segments_of(file: memoryview, program: Program) -> list[memoryview]:
    header = parse_program_header(file)
    data = file[:0]
    if header is not None and header.segment_base_offset:
        data = file[header.segment_base_offset :]
        if header.segment_data_size:
            data = data[: header.segment_data_size]
    return [
        _slice(data, segment.offset, segment.size, f"segment {index}")
        for index, segment in enumerate(program.segments)
    ]


def _pick(items: list[Any], index: int, what: str) -> Any:
    if not 0 <= index < len(items):
        raise FormatError(f"{what}: index {index}, but there are {len(items)}")
    return items[index]


def _restore_delegates(program: Program, segments: list[memoryview]) -> None:
    for plan in program.execution_plan:
        for delegate in plan.delegates:
            where = delegate.processed
            if where.location == DataLocation.SEGMENT:
                blob = bytes(_pick(segments, where.index, f"delegate {delegate.id}"))
                delegate.processed = BackendDelegateDataReference(
                    DataLocation.INLINE, len(program.backend_delegate_data)
                )
                program.backend_delegate_data.append(BackendDelegateInlineData(blob))


def _restore_named_data(program: Program, segments: list[memoryview]) -> NamedDataStoreOutput:
    entries: dict[str, DataEntry] = {}
    buffer_of_segment: dict[int, int] = {}
    buffers: list[bytes] = []
    for named in program.named_data or ():
        blob = _pick(segments, named.segment_index, f"named data {named.key!r}")
        if named.segment_index not in buffer_of_segment:
            buffer_of_segment[named.segment_index] = len(buffers)
            buffers.append(bytes(blob))
        entries[named.key] = DataEntry(buffer_of_segment[named.segment_index], 1, None)
    return NamedDataStoreOutput(buffers, entries, {})


def read_program(program_data: bytes) -> Program:
    """The program data of a file as it is stored, segments unread. Raises FormatError (a
    ValueError) on corruption."""
    file = memoryview(program_data).cast("B")
    header = parse_program_header(file)
    return program_codec().unpack(file if header is None else file[: header.program_size])


def deserialize_pte_binary(program_data: bytes, *, verify: bool = False) -> PTEFile:
    """The inverse of serialize_pte_binary: constants, delegate blobs and named data are back in
    memory and `segments` is empty. For untrusted bytes: raises FormatError (a ValueError) on a corrupted
    file; with `verify` also on whatever the runtime would refuse to load, so that values, operators
    and jumps may be followed without a look."""
    file = memoryview(program_data).cast("B")
    program = read_program(program_data)  # first, since it says more about corrupted structure
    if verify:
        verify_program(program_data)
    segments = _segments_of(file, program)
    constants = program.constant_segment
    if constants.offsets:
        segment = _pick(segments, constants.segment_index, "constant segment")
        program.constant_buffer = _split(segment, constants.offsets, "constant segment")
    mutable = None
    if program.mutable_data_segments:
        if len(program.mutable_data_segments) > 1:
            raise FormatError(
                f"expected one mutable data segment, found {len(program.mutable_data_segments)}"
            )
        (initial,) = program.mutable_data_segments
        segment = _pick(segments, initial.segment_index, "mutable data segment")
        mutable = _split(segment, initial.offsets, "mutable data segment")
    _restore_delegates(program, segments)
    named = _restore_named_data(program, segments)
    program.segments = []
    program.constant_segment = SubsegmentOffsets(0, [])
    program.mutable_data_segments = None
    program.named_data = []
    return PTEFile(program, mutable, named if named.pte_data else None)


def _program_to_json(program: Program) -> str:
    """The program as flatc's JSON; enums are numbers."""
    return json.dumps(program, cls=_DataclassEncoder)


def program_to_json(program: Program, indent: int | None = None) -> str:
    """The program as JSON text; a union's kind stands beside it as `<field>_type`, blobs are lists
    of numbers."""
    return json.dumps(to_plain(program), indent=indent)
