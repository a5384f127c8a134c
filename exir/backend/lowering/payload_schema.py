# SPDX-License-Identifier: BSD-3-Clause
"""The payload format of a backend, from its schema: a dataclass for every table, and bytes of them."""

from __future__ import annotations

from dataclasses import make_dataclass
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from executorch.exir._native import SchemaCodec
from executorch.exir._serialize.schema_generator import Declaration, parse


class PayloadSchema:
    """`source`: the .fbs file; its binary form, which the build makes (`et_binary_schema`), is beside it. Nothing is
    read before it is asked for."""

    def __init__(self, source: Path) -> None:
        self._source = source

    @cached_property
    def classes(self) -> dict[str, type]:
        """By name: a dataclass per table and per member of a union, an IntEnum per enum. Every field may be None, which
        leaves it out of the file."""
        declarations = parse(self._source.read_text())
        made: dict[str, type] = {}
        for declaration in declarations:
            if declaration.kind == "table":
                made[declaration.name] = _table(declaration)
            elif declaration.kind == "enum":
                members = [(name, int(value)) for name, value in declaration.members]
                made[declaration.name] = IntEnum(declaration.name, members)
        for declaration in declarations:
            if declaration.kind == "union":
                for name, table in declaration.members:
                    if table:
                        made[name] = make_dataclass(name, [], bases=(made[table],))
        return made

    def make(self, name: str, **fields: Any) -> Any:
        """An instance of the class `name`."""
        return self.classes[name](**fields)

    def pack(self, root: Any) -> bytes:
        return self._codec.pack(root, {})

    def unpack(self, data: bytes) -> Any:
        """ValueError for bytes that are not of this format."""
        return self._codec.unpack(data)

    @cached_property
    def _codec(self) -> SchemaCodec:
        return SchemaCodec(self._source.with_suffix(".bfbs").read_bytes(), self.classes)


def _table(declaration: Declaration) -> type:
    types = {
        name: "bytes" if kind == "[ubyte]" else "Optional" for name, kind in declaration.members
    }
    return make_dataclass(declaration.name, [(name, kind, None) for name, kind in types.items()])
