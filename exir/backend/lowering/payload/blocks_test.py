# SPDX-License-Identifier: BSD-3-Clause
"""Frames of payloads come back; what is cut, misplaced or too large is refused; the runtime reads by the same rows."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from executorch.exir.backend.lowering.payload.blocks import (
    ETHOS_U_BLOCKS,
    FORMATS,
    MPS_HEADER,
    QUALCOMM_HEADER,
    VULKAN_HEADER,
    XNNPACK_HEADER,
    BlocksFormat,
    HeaderFormat,
    Place,
    places_in,
)

ROOT = Path(__file__).parents[4]
TWO = {"flatbuffer": b"abcdefghij", "constants": b"01234"}
ONE = {"context binary": b"qnn"}
NEXT = {"flatbuffer": b"abcdefgh" * 3, "constants": b"0123456789abcdef"}
VELA = {
    "cmd_data": b"COP1\1",
    "weight_data": b"\7" * 16,
    "scratch_size": b"\x20\0\0\0",
    "inputs": b"\1" * 40,
    "outputs": b"",
}
# Also in runtime/backend/payload_blocks_test.cpp: the header, offsets and sizes of 2, 4, 4, 4 and 8 bytes, the regions.
TWO_REGIONS = (
    "00000000" "{magic}" "1e00" "20000000" "0a000000" "30000000" "0500000000000000" "0000"
    "6162636465666768696a" "000000000000" "3031323334"
)  # fmt: skip
CASES = [
    (XNNPACK_HEADER, TWO),
    (VULKAN_HEADER, TWO),
    (QUALCOMM_HEADER, ONE),
    (MPS_HEADER, NEXT),
    (ETHOS_U_BLOCKS, VELA),
]
IDS = [row.name for row, _ in CASES]
Format = HeaderFormat | BlocksFormat


def test_bytes_of_each_kind() -> None:
    assert XNNPACK_HEADER.write(TWO).hex() == TWO_REGIONS.format(magic=b"XH00".hex())
    assert VULKAN_HEADER.write(TWO).hex() == TWO_REGIONS.format(magic=b"VH00".hex())
    qualcomm = QUALCOMM_HEADER.write(ONE, {"signature": 1})
    assert qualcomm.hex() == "cdab7856" + "01" + "00" * 7 + "03" + "00" * 7 + "00" * 236 + "716e6e"
    assert MPS_HEADER.write(NEXT).hex() == (
        "00000000" "4d503030" "3000000000000000" "1000000000000000" + b"".join(NEXT.values()).hex()
    )  # fmt: skip
    blocks = ETHOS_U_BLOCKS.write(VELA)
    first = b"vela_bin_stream\0" + bytes(16)
    second = b"cmd_data" + bytes(8) + b"\5" + bytes(15) + b"COP1\1" + bytes(11)
    assert blocks.startswith(first + second) and len(blocks) == 7 * 32 + 16 + 16 + 16 + 48
    assert blocks.endswith(b"outputs" + bytes(25) + b"vela_end_stream" + bytes(17))


@pytest.mark.parametrize(("row", "content"), CASES, ids=IDS)
def test_each_kind_comes_back(row: Format, content: dict[str, bytes]) -> None:
    payload = row.write(content)
    assert row.read(payload) == content
    assert [each.name for each in places_in(payload)] == list(content)
    empty = dict.fromkeys(content, b"")
    if row is ETHOS_U_BLOCKS:
        assert row.read(row.write(empty)) == empty
    else:
        with pytest.raises(ValueError, match="region (flatbuffer|context binary): expected"):
            row.write(empty)
    with pytest.raises(ValueError, match="expected .*, found other"):
        row.write({"other": b""})


@pytest.mark.parametrize(("row", "content"), CASES, ids=IDS)
def test_every_prefix_is_refused(row: Format, content: dict[str, bytes]) -> None:
    payload = row.write(content)
    for size in range(len(payload)):
        with pytest.raises(ValueError, match=f"{row.name} payload"):
            row.read(payload[:size])
        assert places_in(payload[:size]) == []


@pytest.mark.parametrize(("row", "content"), CASES, ids=IDS)
def test_changed_bytes_are_refused_or_inside(row: Format, content: dict[str, bytes]) -> None:
    payload, rng = row.write(content), random.Random(7)
    for _ in range(500):
        changed = bytearray(payload)
        for _ in range(3):
            changed[rng.randrange(len(payload))] = rng.randrange(256)
        try:
            places = row.places(bytes(changed))
        except ValueError:
            continue
        ends = [(each.offset, each.offset + each.size) for each in places]
        assert all(0 <= begin <= end <= len(payload) for begin, end in ends)


@pytest.mark.parametrize(
    ("at", "num_bytes", "number"),
    [
        (8, 2, 29), (8, 2, 33), (10, 4, 28), (10, 4, 33), (10, 4, 0xFFFFFFFC), (14, 4, 7), (14, 4, 17), (14, 4, 22),
        (14, 4, 0xFFFFFFFF), (18, 4, 41), (18, 4, 54), (22, 8, 6), (22, 8, 0xFFFFFFFFFFFFFFFF),
    ],
)  # fmt: skip
def test_regions_must_be_inside_and_apart(at: int, num_bytes: int, number: int) -> None:
    payload = bytearray(XNNPACK_HEADER.write(TWO))
    payload[at : at + num_bytes] = number.to_bytes(num_bytes, "little")
    with pytest.raises(ValueError, match="XNNPACK payload: .*expected"):
        XNNPACK_HEADER.read(bytes(payload))


def test_a_size_of_zero_reaches_to_the_end_where_the_format_says_so() -> None:
    for row, rest in ((VULKAN_HEADER, b"01234"), (XNNPACK_HEADER, b"")):
        payload = bytearray(row.write(TWO))
        payload[22:30] = bytes(8)
        assert row.read(bytes(payload))["constants"] == rest


def test_a_region_without_a_size_reaches_to_the_next() -> None:
    payload = bytearray(MPS_HEADER.write({**NEXT, "flatbuffer": b"abcdefghij"}))
    assert MPS_HEADER.read(bytes(payload))["flatbuffer"] == b"abcdefghij" + bytes(14)  # 24 to 48
    for offset in (0, 16, 24, 32, 40, 80, 1 << 63):
        payload[8:16] = offset.to_bytes(8, "little")
        with pytest.raises(
            ValueError, match="MPS payload: region (flatbuffer|constants): expected"
        ):
            MPS_HEADER.read(bytes(payload))


def test_numbers_that_the_header_has_no_room_for_are_refused() -> None:
    with pytest.raises(ValueError, match="expected a number of 4 bytes, found 4294967296"):
        XNNPACK_HEADER.header([(32, 1 << 32), (48, 0)])


def test_block_names_are_those_of_the_format_each_once() -> None:
    payload = ETHOS_U_BLOCKS.write(VELA)
    for name in VELA:
        unknown = payload.replace(name.encode() + b"\0", name.encode()[:-1] + b"?\0")
        with pytest.raises(ValueError, match=r"expected the blocks vela_bin_stream, .* found .*\?"):
            ETHOS_U_BLOCKS.read(unknown)
    twice = payload.replace(b"outputs", b"inputs\0")
    for bad in (twice, payload + bytes(16), payload[:-32] + payload[-64:]):
        with pytest.raises(ValueError, match="Ethos-U payload"):
            ETHOS_U_BLOCKS.read(bad)
    with pytest.raises(ValueError, match="expected a name of at most 15 bytes"):
        BlocksFormat("Other", "first", "a_name_of_16_ch.", ()).write({})


def test_other_bytes_have_no_parts() -> None:
    assert places_in(b"") == places_in(b"2#op:demo") == []
    assert places_in(XNNPACK_HEADER.write(TWO)) == [
        Place("flatbuffer", 32, 10),
        Place("constants", 48, 5),
    ]


def test_the_runtime_reads_by_the_same_rows() -> None:
    header = Path(
        "runtime/backend/payload_formats.h"
    )  # in the sources, or among the headers of the package
    text = next(
        path for path in (ROOT / header, ROOT / "include/executorch" / header) if path.exists()
    ).read_text()
    rows = re.findall(r"inline constexpr (\w+)Format k\w+ = (\{.*?\});", text, re.S)
    found = [(kind, _plain(row)) for kind, row in rows]
    assert found == [
        (type(row).__name__.removesuffix("Format"), _plain(_cpp(row))) for row in FORMATS
    ]


def _plain(text: str) -> str:
    return re.sub(r"\s", "", text)


def _cpp(row: Format) -> str:
    """The row as C++ writes it."""
    if isinstance(row, BlocksFormat):
        names = ", ".join(f'"{name}"' for name in row.names)
        return f'{{"{row.name}", "{row.first}", "{row.last}", {len(row.names)}, {{{names}}}}}'

    def number(it: object) -> str:
        at, size = it.at, it.num_bytes
        return f"{{{at}, {size}}}" if size else "{}"

    regions = ", ".join(
        f"{{{number(each.offset)}, {number(each.size)}, {each.fixed_offset}, {each.min_size}, {each.alignment}, "
        f"{str(each.is_open_ended).lower()}}}"
        for each in row.regions
    )
    magic = int.from_bytes(row.magic, "little")
    return (
        f'{{"{row.name}", 0x{magic:08X}, {row.magic_at}, {row.num_bytes}, {number(row.length)}, {len(row.regions)}, '
        f"{{{regions}}}}}"
    )
