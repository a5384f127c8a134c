# SPDX-License-Identifier: BSD-3-Clause
"""The payload format of a backend, from its schema: a class for every table, struct and enum, and bytes of them."""

from __future__ import annotations

from dataclasses import make_dataclass
from enum import IntEnum, IntFlag
from functools import cached_property
from pathlib import Path
from typing import Any

from executorch.exir._native import SchemaCodec, schema_declarations


class PayloadSchema:
    """`source`: the .fbs file; its binary form, which the build makes (`et_binary_schema`), is beside it. Nothing is
    read before it is asked for."""

    def __init__(self, source: Path) -> None:
        self._source = source

    @cached_property
    def classes(self) -> dict[str, type]:
        """By name: a dataclass per table, per struct and per member of a union that has a name of its own, an IntEnum
        or IntFlag per enum. Every field of a table may be None, which leaves it out of the file; a struct has all."""
        declarations = schema_declarations(self._binary)
        made = {name: _class(kind, name, members) for kind, name, members in declarations}
        for kind, _, members in declarations:
            if kind == "union":
                for name, table in members:
                    if table and name != table:
                        made[name] = make_dataclass(name, [], bases=(made[table],))
        return {name: each for name, each in made.items() if each is not None}

    def make(self, name: str, /, **fields: Any) -> Any:
        """An instance of the class `name`."""
        return self.classes[name](**fields)

    def pack(self, root: Any) -> bytes:
        """The bytes that flatc makes of the same values in JSON. TypeError or ValueError that names the field."""
        return self._codec.pack(root, {})

    def unpack(self, data: bytes) -> Any:
        """ValueError for bytes that are not of this format."""
        return self._codec.unpack(data)

    @cached_property
    def _binary(self) -> bytes:
        return self._source.with_suffix(".bfbs").read_bytes()

    @cached_property
    def _codec(self) -> SchemaCodec:
        return SchemaCodec(self._binary, self.classes)


def _class(kind: str, name: str, members: list[tuple[str, str]]) -> type | None:
    match kind:
        case "enum":
            return IntEnum(name, [(member, int(value)) for member, value in members])
        case "flags":
            return IntFlag(name, [(member, int(value)) for member, value in members])
        case "struct":
            return make_dataclass(name, [(member, "Any") for member, _ in members])
        case "table":
            types = {member: "bytes" if kind == "bytes" else "Any" for member, kind in members}
            fields = [(member, f"{text} | None", None) for member, text in types.items()]
            return make_dataclass(name, fields)
    return None
