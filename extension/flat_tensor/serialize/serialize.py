# SPDX-License-Identifier: BSD-3-Clause
"""Writes and reads .ptd data files; headers, places and the table of contents are made by the
native module."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from executorch.exir import tensor_layout
from executorch.exir._native import (
    FormatError,
    SchemaCodec,
    flat_tensor_head,
    flat_tensor_schema,
    lay_out,
    parse_flat_tensor_header,
)
from executorch.exir._serialize._codec import classes_of
from executorch.exir._serialize._cord import Cord
from executorch.exir._serialize._named_data_store import NamedDataStoreOutput
from executorch.exir._serialize.data_serializer import DataEntry, DataPayload, DataSerializer
from executorch.exir.scalar_type import ScalarType
from executorch.extension.flat_tensor.serialize import flat_tensor_schema as schema

_HEADER_ALIGNMENT = 16
_VERSION = 0


@dataclass
class FlatTensorConfig:
    segment_alignment: int = 128


@dataclass
class FlatTensorHeader:
    """The header behind the first eight bytes of a data file."""

    EXPECTED_MAGIC: ClassVar[bytes] = b"FH01"
    EXPECTED_LENGTH: ClassVar[int] = 40

    flatbuffer_offset: int
    flatbuffer_size: int
    segment_base_offset: int
    segment_data_size: int
    magic: bytes = EXPECTED_MAGIC
    length: int = EXPECTED_LENGTH

    @staticmethod
    def from_bytes(data: bytes) -> FlatTensorHeader:
        """`data` begins with the header; it may be one that is_valid() refuses."""
        if len(data) < FlatTensorHeader.EXPECTED_LENGTH:
            raise ValueError(f"a data file header has 40 bytes, found {len(data)}")
        magic, length, *ranges = struct.unpack_from("<4sIQQQQ", data)
        return FlatTensorHeader(*ranges, magic=magic, length=length)

    def is_valid(self) -> bool:
        return self.magic == self.EXPECTED_MAGIC and self.length >= self.EXPECTED_LENGTH

    def to_bytes(self) -> bytes:
        if not self.is_valid():
            raise ValueError(f"cannot write a bad header: {self}")
        return struct.pack(
            "<4sIQQQQ",
            self.magic,
            self.length,
            self.flatbuffer_offset,
            self.flatbuffer_size,
            self.segment_base_offset,
            self.segment_data_size,
        )


@dataclass
class AlignedData:
    """A segment and the alignment it needs beside that of all segments."""

    data: Cord
    alignment: int | None = None


@cache
def _codec() -> SchemaCodec:
    classes = classes_of(schema, tensor_layout)
    return SchemaCodec(flat_tensor_schema(), classes | {"ScalarType": ScalarType})


class FlatTensorSerializer(DataSerializer):
    """Data files of the FlatTensor format."""

    def __init__(self, config: FlatTensorConfig | None = None) -> None:
        self.config = config or FlatTensorConfig()

    def serialize(self, data: DataPayload) -> Cord:
        """One segment per buffer; buffers are referred to, not copied."""
        alignments = [1] * len(data.buffers)
        for entry in data.named_data.values():
            alignments[entry.buffer_index] = math.lcm(
                alignments[entry.buffer_index], entry.alignment or 1
            )
        sizes = [(len(buffer), a) for buffer, a in zip(data.buffers, alignments, strict=True)]
        starts, total = lay_out(sizes, self.config.segment_alignment)
        table = schema.FlatTensor(
            version=_VERSION,
            segments=[
                schema.DataSegment(s, size) for s, (size, _) in zip(starts, sizes, strict=True)
            ],
            named_data=[
                schema.NamedData(key, entry.buffer_index, entry.tensor_layout)
                for key, entry in data.named_data.items()
            ],
        )
        base_alignment = math.lcm(self.config.segment_alignment, *alignments)
        cord = Cord(
            flat_tensor_head(_codec().pack(table), total, _HEADER_ALIGNMENT, base_alignment)
        )
        base = len(cord)
        for start, buffer in zip(starts, data.buffers, strict=True):
            cord.pad_to(base + start).append(buffer)
        return cord

    def deserialize(self, blob: Cord) -> DataPayload:
        """For untrusted bytes: raises FormatError (a ValueError) on corruption. Alignments are not in
        the file."""
        file = memoryview(bytes(blob))
        header = parse_flat_tensor_header(file)
        if header is None:
            raise FormatError("not a data file: no FH01 header at byte 8")
        table = _codec().unpack(file[: header.flatbuffer_offset + header.flatbuffer_size])
        if table.version != _VERSION:
            raise FormatError(f"expected data file version {_VERSION}, found {table.version}")
        base, size = header.segment_base_offset, header.segment_data_size
        segments = file[base : base + size]
        return _payload(table, segments)

    def deserialize_to_named_data_store_output(
        self, blob: bytes, name: str
    ) -> NamedDataStoreOutput:
        """The content of a data file as the external data `name` of a store."""
        payload = self.deserialize(Cord(blob))
        return NamedDataStoreOutput(list(payload.buffers), {}, {name: payload.named_data})


def _payload(table: schema.FlatTensor, segments: memoryview) -> DataPayload:
    buffers = []
    for index, segment in enumerate(table.segments):
        if segment.offset + segment.size > len(segments):
            raise FormatError(
                f"segment {index}: {segment.size} bytes at {segment.offset} lie outside the "
                f"{len(segments)} bytes of segments"
            )
        buffers.append(bytes(segments[segment.offset : segment.offset + segment.size]))
    named: dict[str, DataEntry] = {}
    for entry in table.named_data:
        if entry.segment_index >= len(buffers):
            raise FormatError(
                f"{entry.key!r}: segment {entry.segment_index}, but there are {len(buffers)}"
            )
        if entry.key in named:
            raise FormatError(f"key {entry.key!r} stands in the file twice")
        if entry.tensor_layout is not None:
            _check_layout(entry.key, entry.tensor_layout, len(buffers[entry.segment_index]))
        named[entry.key] = DataEntry(entry.segment_index, 1, entry.tensor_layout)
    return DataPayload(buffers, named)


def _check_layout(key: str, layout: tensor_layout.TensorLayout, num_bytes: int) -> None:
    sizes, order = layout.sizes, layout.dim_order
    if any(size < 0 for size in sizes) or sorted(order) != list(range(len(sizes))):
        raise FormatError(f"{key!r}: bad layout, sizes {sizes[:16]}, dim order {order[:16]}")
    expected = math.prod(sizes) * ScalarType(layout.scalar_type).itemsize
    if expected > num_bytes:
        raise FormatError(f"{key!r}: a tensor of {expected} bytes in a segment of {num_bytes}")
