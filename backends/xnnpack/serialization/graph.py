# SPDX-License-Identifier: BSD-3-Clause
"""The payload's graph as dataclasses, one per table of schema.fbs and one per kind of node, and its bytes.

Every field may be None, which leaves it out of the file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from executorch.exir.backend.lowering.payload.blocks import XNNPACK_HEADER
from executorch.exir.backend.lowering.payload.schema import PayloadSchema

INVALID_VALUE_ID = 0xFFFFFFFF
NAMED_DATA_OFFSET = 0xFFFFFFFFFFFFFFFF
NO_DEBUG_HANDLE = 65535
ALIGNMENT = 16

SCHEMA = PayloadSchema(Path(__file__).with_name("schema.fbs"))
make = SCHEMA.make


@dataclass
class XNNHeader:
    """What stands before the flatbuffer: offsets of it and of the constants behind it, from the payload's beginning."""

    MAGIC_OFFSET: ClassVar[slice] = slice(4, 8)
    HEADER_SIZE_OFFSET: ClassVar[slice] = slice(8, 10)
    FLATBUFFER_OFFSET_OFFSET: ClassVar[slice] = slice(10, 14)
    FLATBUFFER_SIZE_OFFSET: ClassVar[slice] = slice(14, 18)
    CONSTANT_DATA_OFFSET_OFFSET: ClassVar[slice] = slice(18, 22)
    CONSTANT_DATA_SIZE_OFFSET: ClassVar[slice] = slice(22, 30)
    EXPECTED_MAGIC: ClassVar[bytes] = b"XH00"
    EXPECTED_LENGTH: ClassVar[int] = 30

    flatbuffer_offset: int
    flatbuffer_size: int
    constant_data_offset: int
    constant_data_size: int

    @staticmethod
    def from_bytes(data: bytes) -> XNNHeader:
        magic = bytes(data[XNNHeader.MAGIC_OFFSET])
        if magic != XNNHeader.EXPECTED_MAGIC:
            raise ValueError(
                f"Invalid XNNHeader: invalid magic bytes {magic!r}, expected {XNNHeader.EXPECTED_MAGIC!r}"
            )
        length = int.from_bytes(data[XNNHeader.HEADER_SIZE_OFFSET], "little")
        if length != XNNHeader.EXPECTED_LENGTH or len(data) < length:
            raise ValueError(
                f"Invalid XNNHeader: Invalid parsed length: expected {XNNHeader.EXPECTED_LENGTH} bytes, found {length} "
                f"in {len(data)} bytes"
            )
        numbers = [
            each.read(data) for row in XNNPACK_HEADER.regions for each in (row.offset, row.size)
        ]
        return XNNHeader(*numbers)

    def is_valid(self) -> bool:
        end = self.flatbuffer_offset + self.flatbuffer_size
        return self.flatbuffer_size > 0 and self.constant_data_offset >= end

    def to_bytes(self) -> bytes:
        """ValueError when it is not valid."""
        if not self.is_valid():
            raise ValueError(
                f"Invalid XNNHeader: {self} failed is_valid(): expected a flatbuffer, then constants"
            )
        return XNNPACK_HEADER.header(
            [
                (self.flatbuffer_offset, self.flatbuffer_size),
                (self.constant_data_offset, self.constant_data_size),
            ]
        )


def serialize(graph: Any, constants: bytes | bytearray = b"") -> bytes:
    """The payload: header, flatbuffer and `constants`; those that are named data are not among them."""
    return XNNPACK_HEADER.write({"flatbuffer": SCHEMA.pack(graph), "constants": bytes(constants)})


def deserialize(payload: bytes) -> Any:
    """The graph of a payload; ValueError for bytes that are none."""
    return SCHEMA.unpack(XNNPACK_HEADER.read(payload)["flatbuffer"])
