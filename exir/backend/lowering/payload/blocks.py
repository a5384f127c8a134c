# SPDX-License-Identifier: BSD-3-Clause
"""The frames of payloads, as rows of one table: a header with magic and regions, or named blocks of 16 bytes.

    header:  ....XH00 length, offset and size of each region   | padding | region | padding | region
    blocks:  name (16 bytes) | size (4), padding (12)          | data, filled up to 16 | the next block

`write` and `read` of a row are the ahead-of-time half; runtime/backend/payload_blocks.h reads by the same rows
(payload_formats.h there). Bytes that are read are untrusted: ValueError for what is cut, misplaced or too large."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_UNIT = 16  # of named blocks
_LARGEST_BLOCK = (1 << 31) - 1


@dataclass(frozen=True)
class Number:
    """Little-endian and unsigned, at a byte of the payload; of 0 bytes: there is none."""

    at: int = 0
    num_bytes: int = 0

    def read(self, payload: bytes) -> int:
        return int.from_bytes(payload[self.at : self.at + self.num_bytes], "little")

    def write(self, header: bytearray, value: int) -> None:
        if not 0 <= value < 1 << 8 * self.num_bytes:
            raise ValueError(f"expected a number of {self.num_bytes} bytes, found {value}")
        header[self.at : self.at + self.num_bytes] = value.to_bytes(self.num_bytes, "little")


@dataclass(frozen=True)
class Region:
    """Consecutive bytes. `fixed_offset`: where it begins, when the header does not say. Without a `size` it reaches to
    the next region. `alignment`: that readers ask of the offset. `is_open_ended`: a size of 0 means to the payload's
    end."""

    name: str
    offset: Number
    size: Number
    fixed_offset: int = 0
    min_size: int = 0
    alignment: int = 1
    is_open_ended: bool = False


@dataclass(frozen=True)
class Place:
    """Of a region or block in a payload."""

    name: str
    offset: int
    size: int


@dataclass(frozen=True)
class HeaderFormat:
    """Regions stand in their order, behind the header, and do not overlap. `num_bytes`: of the header; `length`: where
    it says so. `padded`: where its padding ends; `written_alignment`: of the regions that are written. `others`: what
    else stands in it."""

    name: str
    magic: bytes
    magic_at: int
    num_bytes: int
    length: Number
    regions: tuple[Region, ...]
    padded: int
    written_alignment: int
    others: Mapping[str, Number] | None = None

    def write(self, regions: Mapping[str, bytes], others: Mapping[str, int] | None = None) -> bytes:
        """The payload; what `others` leaves out is 0. ValueError for regions that the format cannot say."""
        _check_names(self.name, regions, [each.name for each in self.regions])
        payload = bytearray(self.padded)
        places = []
        for row in self.regions:
            if row.offset.num_bytes:
                payload += bytes(-len(payload) % self.written_alignment)
            places.append((len(payload), len(regions[row.name])))
            payload += regions[row.name]
        payload[: self.num_bytes] = self.header(places, others)
        self.places(bytes(payload))
        return bytes(payload)

    def header(
        self, places: list[tuple[int, int]], others: Mapping[str, int] | None = None
    ) -> bytes:
        """Of offset and size of each region, without padding. ValueError for numbers that are too large."""
        header = bytearray(self.num_bytes)
        header[self.magic_at : self.magic_at + len(self.magic)] = self.magic
        self.length.write(header, self.num_bytes if self.length.num_bytes else 0)
        for row, (offset, size) in zip(self.regions, places, strict=True):
            row.offset.write(header, offset if row.offset.num_bytes else 0)
            row.size.write(header, size if row.size.num_bytes else 0)
        for name, value in (others or {}).items():
            (self.others or {})[name].write(header, value)
        return bytes(header)

    def has_magic(self, payload: bytes) -> bool:
        return payload[self.magic_at : self.magic_at + len(self.magic)] == self.magic

    def places(self, payload: bytes) -> list[Place]:
        if len(payload) < self.num_bytes or not self.has_magic(payload):
            start = bytes(payload[: self.magic_at + len(self.magic)])
            raise ValueError(
                f"{self.name} payload: expected at least {self.num_bytes} bytes with {self.magic!r} at byte "
                f"{self.magic_at}, found {len(payload)} bytes that begin with {start!r}"
            )
        end = self.length.read(payload) if self.length.num_bytes else self.num_bytes
        if end < self.num_bytes:
            raise ValueError(
                f"{self.name} payload: expected a header of at least {self.num_bytes} bytes, found {end}"
            )
        found = []
        for row, behind in zip(self.regions, (*self.regions[1:], None), strict=True):
            found.append(self._place(row, behind, payload, end))
            end = found[-1].offset + found[-1].size
        return found

    def _place(self, row: Region, behind: Region | None, payload: bytes, begin: int) -> Place:
        whole = len(payload)
        offset = row.offset.read(payload) if row.offset.num_bytes else row.fixed_offset
        what = f"{self.name} payload: region {row.name}: expected"
        if not begin <= offset <= whole or offset % row.alignment:
            raise ValueError(
                f"{what} an offset in {begin}..{whole}, a multiple of {row.alignment}, found {offset}"
            )
        size = row.size.read(payload)
        if not row.size.num_bytes:
            size = max(0, (whole if behind is None else behind.offset.read(payload)) - offset)
        elif size == 0 and row.is_open_ended:
            size = whole - offset
        if not row.min_size <= size <= whole - offset:
            raise ValueError(f"{what} {row.min_size}..{whole - offset} bytes, found {size}")
        return Place(row.name, offset, size)

    def read(self, payload: bytes) -> dict[str, bytes]:
        """The regions by name."""
        return {each.name: _bytes_at(payload, each) for each in self.places(payload)}


@dataclass(frozen=True)
class BlocksFormat:
    """`first` and `last` are empty blocks; `names` stand between them, each once, in any order."""

    name: str
    first: str
    last: str
    names: tuple[str, ...]

    def write(self, blocks: Mapping[str, bytes]) -> bytes:
        """In the order of the format's names."""
        _check_names(self.name, blocks, self.names)
        between = [_block(name, blocks[name]) for name in self.names]
        return b"".join([_block(self.first, b""), *between, _block(self.last, b"")])

    def has_magic(self, payload: bytes) -> bool:
        return payload[:_UNIT] == self.first.encode().ljust(_UNIT, b"\0")

    def places(self, payload: bytes) -> list[Place]:
        """In the order of the payload."""
        if not self.has_magic(payload):
            found = bytes(payload[:_UNIT])
            raise ValueError(
                f"{self.name} payload: expected to begin with block {self.first}, found {found!r}"
            )
        at, found = 0, [self._place(payload, 0)]
        while found[-1].name != self.last:
            at = found[-1].offset + -(-found[-1].size // _UNIT) * _UNIT
            found.append(self._place(payload, at))
        names = [each.name for each in found]
        expected = [self.first, *self.names, self.last]
        is_complete = found[-1].offset == len(payload) and not found[0].size and not found[-1].size
        if sorted(names) != sorted(expected) or not is_complete:
            raise ValueError(
                f"{self.name} payload of {len(payload)} bytes: expected the blocks {', '.join(expected)}, found "
                f"{', '.join(names)}, which end at byte {found[-1].offset}"
            )
        return found[1:-1]

    def _place(self, payload: bytes, at: int) -> Place:
        data = at + 2 * _UNIT
        room = len(payload) - data
        size = int.from_bytes(payload[at + _UNIT : at + _UNIT + 4], "little")
        if room < 0 or size > min(_LARGEST_BLOCK, room) or -(-size // _UNIT) * _UNIT > room:
            raise ValueError(
                f"{self.name} payload: block at byte {at}: expected to be whole, with {self.last} behind it, found "
                f"{len(payload)} bytes and a block of {size}"
            )
        name = payload[at : at + _UNIT].split(b"\0")[0]
        return Place(name.decode(errors="replace"), data, size)

    def read(self, payload: bytes) -> dict[str, bytes]:
        """The data by name."""
        return {each.name: _bytes_at(payload, each) for each in self.places(payload)}


def _block(name: str, data: bytes) -> bytes:
    if len(name) >= _UNIT or len(data) > _LARGEST_BLOCK:
        raise ValueError(
            f"block {name} of {len(data)} bytes: expected a name of at most {_UNIT - 1} bytes, and data of at most "
            f"{_LARGEST_BLOCK}"
        )
    start = name.encode().ljust(_UNIT, b"\0") + len(data).to_bytes(_UNIT, "little")
    return start + data + bytes(-len(data) % _UNIT)


def _check_names(
    format_name: str, given: Mapping[str, bytes], expected: list[str] | tuple[str, ...]
) -> None:
    if set(given) != set(expected):
        raise ValueError(
            f"{format_name} payload: expected {', '.join(expected)}, found {', '.join(given)}"
        )


def _bytes_at(payload: bytes, place: Place) -> bytes:
    return bytes(payload[place.offset : place.offset + place.size])


def _flatbuffer_and_constants(name: str, magic: bytes, is_open_ended: bool) -> HeaderFormat:
    flatbuffer = Region("flatbuffer", Number(10, 4), Number(14, 4), min_size=8, alignment=4)
    constants = Region("constants", Number(18, 4), Number(22, 8), is_open_ended=is_open_ended)
    return HeaderFormat(name, magic, 4, 30, Number(8, 2), (flatbuffer, constants), 32, 16)


XNNPACK_HEADER = _flatbuffer_and_constants("XNNPACK", b"XH00", is_open_ended=False)
VULKAN_HEADER = _flatbuffer_and_constants("Vulkan", b"VH00", is_open_ended=True)
QUALCOMM_HEADER = HeaderFormat(
    "Qualcomm", b"\xcd\xab\x78\x56", 0, 20, Number(),
    (Region("context binary", Number(), Number(12, 8), fixed_offset=256, min_size=1),),
    256, 1, {"signature": Number(4, 8)},
)  # fmt: skip
MPS_HEADER = HeaderFormat(
    "MPS", b"MP00", 4, 24, Number(),
    (
        Region("flatbuffer", Number(), Number(), fixed_offset=24, min_size=12),
        Region("constants", Number(8, 8), Number(16, 8), alignment=16),
    ),
    24, 16,
)  # fmt: skip
ETHOS_U_BLOCKS = BlocksFormat(
    "Ethos-U", "vela_bin_stream", "vela_end_stream",
    ("cmd_data", "weight_data", "scratch_size", "inputs", "outputs"),
)  # fmt: skip
FORMATS = (XNNPACK_HEADER, VULKAN_HEADER, QUALCOMM_HEADER, MPS_HEADER, ETHOS_U_BLOCKS)


def places_in(payload: bytes) -> list[Place]:
    """What a payload of any format consists of; nothing for other bytes, and for those that are corrupted."""
    for each in FORMATS:
        if each.has_magic(payload):
            try:
                return each.places(payload)
            except ValueError:
                return []
    return []
