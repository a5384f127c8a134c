# SPDX-License-Identifier: BSD-3-Clause
"""The payload's graph as dataclasses, one per table of schema.fbs and one per kind of node, and its bytes.

Every field may be None, which leaves it out of the file."""

from __future__ import annotations

import struct
from dataclasses import make_dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Any

from executorch.exir._native import SchemaCodec
from executorch.exir._serialize.schema_generator import Declaration, parse

INVALID_VALUE_ID = 0xFFFFFFFF
NAMED_DATA_OFFSET = 0xFFFFFFFFFFFFFFFF
ALIGNMENT = 16
_HEADER = struct.Struct("<4x4sHIIIQ2x")
_FOLDER = Path(__file__).parent


def _table(declaration: Declaration) -> type:
    types = {
        name: "bytes" if kind == "[ubyte]" else "Optional" for name, kind in declaration.members
    }
    return make_dataclass(declaration.name, [(name, kind, None) for name, kind in types.items()])


@cache
def classes() -> dict[str, type]:
    """The classes by name."""
    declarations = parse((_FOLDER / "schema.fbs").read_text())
    made: dict[str, type] = {}
    for declaration in declarations:
        if declaration.kind == "table":
            made[declaration.name] = _table(declaration)
        elif declaration.kind == "enum":
            made[declaration.name] = IntEnum(declaration.name, [*map(_number, declaration.members)])
    for declaration in declarations:
        if declaration.kind == "union":
            for name, table in declaration.members:
                if table:
                    made[name] = make_dataclass(name, [], bases=(made[table],))
    return made


def _number(member: tuple[str, str]) -> tuple[str, int]:
    return member[0], int(member[1])


@cache
def _codec() -> SchemaCodec:
    return SchemaCodec((_FOLDER / "schema.bfbs").read_bytes(), classes())


def make(name: str, **fields: Any) -> Any:
    """An instance of the class `name`."""
    return classes()[name](**fields)


def serialize(graph: Any) -> bytes:
    """The payload: header and flatbuffer; constants are named data."""
    flatbuffer = _codec().pack(graph, {})
    offset = 2 * ALIGNMENT
    padding = -len(flatbuffer) % ALIGNMENT
    constants = offset + len(flatbuffer) + padding
    header = _HEADER.pack(b"XH00", _HEADER.size - 2, offset, len(flatbuffer), constants, 0)
    return header + flatbuffer + bytes(padding)


def deserialize(payload: bytes) -> Any:
    """The graph of a payload; ValueError for bytes that are none."""
    if len(payload) < _HEADER.size or payload[4:8] != b"XH00":
        raise ValueError(f"expected an XNNPACK payload with XH00 at byte 4, found {payload[:8]!r}")
    _, _, offset, size, _, _ = _HEADER.unpack_from(payload)
    return _codec().unpack(payload[offset : offset + size])
