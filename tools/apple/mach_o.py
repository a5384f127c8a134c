# SPDX-License-Identifier: BSD-3-Clause
"""Symbols of Mach-O objects and of archives of them, on any system."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_MAGIC_64, _ARM64 = 0xFEEDFACF, 0x0100000C
_SYMTAB = 2  # LC_SYMTAB
_STAB, _TYPE, _EXTERNAL, _UNDEFINED = 0xE0, 0x0E, 0x01, 0x00  # of n_type


@dataclass(frozen=True)
class Symbols:
    defined: frozenset[str]  # that other objects see
    undefined: frozenset[str]


def members(archive: Path) -> Iterator[bytes]:
    """The objects in an archive."""
    data = archive.read_bytes()
    if not data.startswith(b"!<arch>\n"):
        raise ValueError(f"{archive} is no archive")
    offset = 8
    while offset < len(data):
        name, size = data[offset : offset + 16], int(data[offset + 48 : offset + 58])
        start = offset + 60 + (int(name[3:]) if name.startswith(b"#1/") else 0)
        end = offset + 60 + size
        if struct.unpack_from("<I", data.ljust(start + 4), start)[0] == _MAGIC_64:
            yield data[start:end]
        offset = end + end % 2


def symbols(data: bytes) -> Symbols:
    """Of an object for arm64."""
    magic, cpu, _, _, count = struct.unpack_from("<5I", data)
    if (magic, cpu) != (_MAGIC_64, _ARM64):
        raise ValueError(f"no Mach-O object for arm64: {magic:#x}, {cpu:#x}")
    defined, undefined = set(), set()
    offset = 32
    for _ in range(count):
        command, size = struct.unpack_from("<2I", data, offset)
        if command == _SYMTAB:
            table, number, strings, _ = struct.unpack_from("<4I", data, offset + 8)
            for index in range(number):
                place, kind, _, _, value = struct.unpack_from("<IBBHQ", data, table + 16 * index)
                if kind & _STAB or not kind & _EXTERNAL:
                    continue
                begin = strings + place
                name = data[begin : data.index(b"\0", begin)].decode()
                # A value of an undefined one is the size of a common block.
                is_defined = kind & _TYPE != _UNDEFINED or value
                (defined if is_defined else undefined).add(name)
        offset += size
    return Symbols(frozenset(defined), frozenset(undefined))
