# SPDX-License-Identifier: BSD-3-Clause
"""How values of 1 to 8 bits lie in blocks of 128, 64 or 32 of them."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

from torch import Tensor


class Field(NamedTuple):
    """`width` bits of the value with this number, from `from_bit` on, stand in a byte from `to_bit` on."""

    byte: int
    to_bit: int
    value: int
    from_bit: int
    width: int


def _halves(bits: int, count: int) -> Iterator[Field]:
    """A block made of smaller ones."""
    size = count // 2
    for part in range(2):
        for field in fields(bits, size):
            yield field._replace(
                byte=field.byte + part * size * bits // 8, value=field.value + part * size
            )


def _one(count: int) -> Iterator[Field]:
    if count == 32:
        yield from (Field(i // 8, 7 - i % 8, i, 0, 1) for i in range(32))
    elif count == 64:
        for i in range(64):
            half, low = divmod(i % 16, 8)
            yield Field(low, 4 * half + 3 - i // 16, i, 0, 1)
    else:
        yield from (Field(i % 16, 7 - i // 16, i, 0, 1) for i in range(128))


def _two(stride: int) -> Iterator[Field]:
    yield from (Field(i % stride, 6 - 2 * (i // stride), i, 0, 2) for i in range(4 * stride))


def _three(stride: int) -> Iterator[Field]:
    s = stride
    for i in range(s):
        places = [(0, 3), (0, 0), (1, 3), (1, 0), (2, 3), (2, 0)]
        for j, (row, bit) in enumerate(places):
            yield Field(i + row * s, bit, i + j * s, 0, 3)
        for j, bit in ((6, 7), (7, 6)):
            yield Field(i + (j - 6) * s, 6, i + j * s, 0, 2)
            yield Field(i + 2 * s, bit, i + j * s, 2, 1)


def _four() -> Iterator[Field]:
    yield from (Field(i % 16, 4 * (i // 16), i, 0, 4) for i in range(32))


def _five(count: int) -> Iterator[Field]:
    if count == 32:
        for pack in range(4):
            for j in range(4):
                low, high = 8 * pack + 2 * j, 8 * pack + 2 * j + 1
                yield Field(5 * pack + j, 0, low, 0, 5)
                yield Field(5 * pack + j, 5, high, 0, 3)
                yield Field(5 * pack + 4, 2 * j, high, 3, 2)
        return
    pairs = count // 32
    for j in range(pairs):
        for i in range(16):
            yield Field(i + 16 * j, 0, i + 32 * j, 0, 5)
            yield Field(i + 16 * j, 5, i + 32 * j + 16, 0, 3)
            if count == 128:
                yield Field(64 + i, 2 * j, i + 32 * j + 16, 3, 2)
            else:
                yield Field(32 + i % 8, 4 * j + 2 * (i // 8), i + 32 * j + 16, 3, 2)


def _six(stride: int) -> Iterator[Field]:
    for i in range(stride):
        for j in range(3):
            yield Field(i + j * stride, 0, i + j * stride, 0, 6)
            yield Field(i + j * stride, 6, i + 3 * stride, 2 * j, 2)


def _seven(stride: int, packs: int) -> Iterator[Field]:
    for pack in range(packs):
        for i in range(7):
            for j in range(stride):
                yield Field(7 * pack + i * stride + j, 0, 8 * pack + i * stride + j, 0, 7)
                yield Field(7 * pack + i * stride + j, 7, 8 * pack + 7 * stride + j, i, 1)


@functools.cache
def fields(bits: int, count: int) -> tuple[Field, ...]:
    """All fields of a block of `count` values, which takes count * bits / 8 bytes."""
    stride = count // 8
    match bits:
        case 1:
            found = _one(count)
        case 2:
            found = _halves(2, 128) if count == 128 else _two(count // 4)
        case 3 if count == 32:
            found = (
                f._replace(byte=f.byte + 3 * pack, value=f.value + 8 * pack)
                for pack in range(4)
                for f in _three(1)
            )
        case 3:
            found = _three(stride)
        case 4:
            found = _four() if count == 32 else _halves(4, count)
        case 5:
            found = _five(count)
        case 6:
            found = _halves(6, 128) if count == 128 else _six(count // 4)
        case 7:
            found = _seven(1, 4) if count == 32 else _seven(stride, 1)
        case 8:
            found = (Field(i, 0, i, 0, 8) for i in range(count))
        case _:
            raise ValueError(f"expected 1 to 8 bits, found {bits}")
    return tuple(found)


def pack(values: Tensor, bits: int) -> Tensor:
    """Blocks [.., 128, 64 or 32] of uint8 values as bytes [.., count * bits / 8]."""
    count = values.size(-1)
    packed = values.new_zeros((*values.shape[:-1], count * bits // 8))
    for f in fields(bits, count):
        part = values[..., f.value] >> f.from_bit & (1 << f.width) - 1
        packed[..., f.byte] |= part << f.to_bit
    return packed


def unpack(packed: Tensor, bits: int) -> Tensor:
    """The way back."""
    count = packed.size(-1) * 8 // bits
    values = packed.new_zeros((*packed.shape[:-1], count))
    for f in fields(bits, count):
        part = packed[..., f.byte] >> f.to_bit & (1 << f.width) - 1
        values[..., f.value] |= part << f.from_bit
    return values


def split_row(columns: int) -> list[int]:
    """A row of values as blocks: of 128, then at most one of 64 and one of 32."""
    blocks = [128] * (columns // 128)
    rest = columns % 128
    return [*blocks, *([64] if rest >= 64 else []), *([32] if rest % 64 >= 32 else [])]
