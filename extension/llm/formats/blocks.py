# SPDX-License-Identifier: BSD-3-Clause
"""Block formats of GGUF: a block is a few bytes for 32 or 256 numbers of a row; a row of the table per format.

Formats of 32 numbers: a scale (f16), perhaps a minimum, and integers. Formats of 256 ("K"): eight or sixteen
groups, whose scales are integers themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Bytes = np.ndarray  # uint8 (blocks, bytes of a block)
Floats = np.ndarray  # float32 (blocks, numbers of a block)
Parts = tuple[Floats, np.ndarray, Floats | None]


@dataclass(frozen=True)
class Fields:
    """What blocks hold, before anything is multiplied. Scales and minima are float16 [blocks, groups], or, with
    factors, integers that those of the block multiply (float16 [blocks, 1], with minima 2)."""

    codes: np.ndarray  # uint8 [blocks, numbers]
    scales: np.ndarray
    minima: np.ndarray | None = None  # added, or with factors subtracted
    factors: np.ndarray | None = None


def _f16(block: Bytes, at: int, count: int = 1) -> np.ndarray:
    return block[:, at : at + 2 * count].copy().view(np.float16)


def _factors(block: Bytes, *at: int) -> np.ndarray:
    return np.concatenate([_f16(block, each) for each in at], -1)


def _low_high(packed: Bytes) -> np.ndarray:
    """The low nibbles of all bytes, then the high ones."""
    return np.concatenate((packed & 15, packed >> 4), -1)


def _bits(block: Bytes, at: int, count: int) -> np.ndarray:
    """Single bits, lowest of each byte first."""
    return np.unpackbits(block[:, at : at + count], axis=-1, bitorder="little")


def _fields(block: Bytes, at: int, count: int, width: int, lanes: int) -> np.ndarray:
    """Fields of `width` bits: in each run of `lanes` bytes first all lowest fields, then the next."""
    runs = block[:, at : at + count].reshape(len(block), -1, 1, lanes)
    shifts = np.arange(0, 8, width, dtype=np.uint8).reshape(1, 1, -1, 1)
    return ((runs >> shifts) & ((1 << width) - 1)).reshape(len(block), -1)


def _q4_0(b: Bytes) -> Fields:
    return Fields(_low_high(b[:, 2:]), _f16(b, 0))


def _q4_1(b: Bytes) -> Fields:
    return Fields(_low_high(b[:, 4:]), _f16(b, 0), _f16(b, 2))


def _q5_0(b: Bytes) -> Fields:
    return Fields(_low_high(b[:, 6:]) | (_bits(b, 2, 4) << 4), _f16(b, 0))


def _q5_1(b: Bytes) -> Fields:
    return Fields(_low_high(b[:, 8:]) | (_bits(b, 4, 4) << 4), _f16(b, 0), _f16(b, 2))


def _q8_0(b: Bytes) -> Fields:
    return Fields(b[:, 2:] ^ 128, _f16(b, 0))  # signed ones, moved up by 128


def _k_scales(b: Bytes, at: int) -> tuple[np.ndarray, np.ndarray]:
    """Eight scales and eight minima of 6 bits in 12 bytes."""
    low, mid, high = (b[:, at + i : at + i + 4] for i in (0, 4, 8))
    scales = np.concatenate((low & 63, (high & 15) | ((low >> 6) << 4)), -1)
    minima = np.concatenate((mid & 63, (high >> 4) | ((mid >> 6) << 4)), -1)
    return scales, minima


def _q2_k(b: Bytes) -> Fields:
    return Fields(_fields(b, 16, 64, 2, 32), b[:, :16] & 15, b[:, :16] >> 4, _factors(b, 80, 82))


def _q3_k(b: Bytes) -> Fields:
    low = np.concatenate((b[:, 96:104] & 15, b[:, 96:104] >> 4), -1)
    high = (b[:, 104:108][:, None, :] >> np.array([0, 2, 4, 6], np.uint8)[None, :, None]) & 3
    scales = (low | (high.reshape(len(b), -1) << 4)).astype(np.int8) - 32
    codes = _fields(b, 32, 64, 2, 32) | (_fields(b, 0, 32, 1, 32) << 2)
    return Fields(codes, scales, factors=_factors(b, 108))


def _q4_k(b: Bytes) -> Fields:
    return Fields(_fields(b, 16, 128, 4, 32), *_k_scales(b, 4), _factors(b, 0, 2))


def _q5_k(b: Bytes) -> Fields:
    codes = _fields(b, 48, 128, 4, 32) | (_fields(b, 16, 32, 1, 32) << 4)
    return Fields(codes, *_k_scales(b, 4), _factors(b, 0, 2))


def _q6_k(b: Bytes) -> Fields:
    codes = _fields(b, 0, 128, 4, 64) | (_fields(b, 128, 64, 2, 32) << 4)
    return Fields(codes, b[:, 192:208].view(np.int8), factors=_factors(b, 208))


_NL = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.int8)


def _iq4_nl(b: Bytes) -> Fields:
    return Fields(_low_high(b[:, 2:]), _f16(b, 0))


def _iq4_xs(b: Bytes) -> Fields:
    low = _fields(b, 4, 4, 4, 1)
    high = (b[:, 2:4].copy().view(np.uint16) >> np.arange(0, 16, 2, dtype=np.uint16)) & 3
    scales = (low | (high.astype(np.uint8) << 4)).astype(np.int8) - 32
    return Fields(_fields(b, 8, 128, 4, 16), scales, factors=_factors(b, 0))


def _plain(dtype: type) -> Callable[[Bytes], Floats]:
    return lambda b: b.copy().view(dtype).astype(np.float32)


def _bf16(b: Bytes) -> Floats:
    return (b.copy().view(np.uint16).astype(np.uint32) << 16).view(np.float32)


@dataclass(frozen=True, eq=False)  # each is itself: a table of numbers has no hash
class BlockFormat:
    """A number is scale * (code - offset), or scale * code + minimum; with `table`, codes are places in it. Formats
    that are plain numbers have no fields."""

    name: str
    numbers: int  # of a block
    bytes: int
    plain: Callable[[Bytes], Floats] | None = None
    fields: Callable[[Bytes], Fields] | None = None
    code_bits: int = 0
    offset: int = 0
    table: np.ndarray | None = None

    @property
    def bits(self) -> float:
        """Bits of a number, scales counted."""
        return 8 * self.bytes / self.numbers

    def parts(self, blocks: Bytes) -> Parts:
        return self.parts_of(self.fields(blocks))

    def parts_of(self, fields: Fields) -> Parts:
        """Scales [blocks, groups], codes [blocks, numbers], and minima to subtract, as scales, or None; codes are
        signed where there are no minima."""
        codes, minima = fields.codes, fields.minima
        if self.table is not None:
            codes = self.table[codes]
        elif minima is None:
            codes = (codes.astype(np.int16) - self.offset).astype(np.int8)
        scales = fields.scales.astype(np.float32)
        if minima is not None:
            minima = minima.astype(np.float32)
        if fields.factors is None:
            return scales, codes, None if minima is None else -minima
        factors = fields.factors.astype(np.float32)
        return factors[:, :1] * scales, codes, None if minima is None else factors[:, 1:] * minima

    def dequantize(self, blocks: Bytes) -> Floats:
        return self.numbers_of(self.fields(blocks)) if self.fields else self.plain(blocks)

    def numbers_of(self, fields: Fields) -> Floats:
        scales, codes, minima = self.parts_of(fields)
        groups = codes.astype(np.float32).reshape(*scales.shape, -1) * scales[..., None]
        if minima is not None:
            groups = groups - minima[..., None]
        return groups.reshape(len(codes), -1)


def _coded(
    name: str,
    numbers: int,
    size: int,
    code_bits: int,
    fields: Callable[[Bytes], Fields],
    offset: int = 0,
    table: np.ndarray | None = None,
) -> BlockFormat:
    return BlockFormat(name, numbers, size, None, fields, code_bits, offset, table)


# the number that a GGUF file gives each format
BLOCK_FORMATS = {
    0: BlockFormat("F32", 1, 4, _plain(np.float32)),
    1: BlockFormat("F16", 1, 2, _plain(np.float16)),
    2: _coded("Q4_0", 32, 18, 4, _q4_0, offset=8),
    3: _coded("Q4_1", 32, 20, 4, _q4_1),
    6: _coded("Q5_0", 32, 22, 5, _q5_0, offset=16),
    7: _coded("Q5_1", 32, 24, 5, _q5_1),
    8: _coded("Q8_0", 32, 34, 8, _q8_0, offset=128),
    10: _coded("Q2_K", 256, 84, 2, _q2_k),
    11: _coded("Q3_K", 256, 110, 3, _q3_k, offset=4),
    12: _coded("Q4_K", 256, 144, 4, _q4_k),
    13: _coded("Q5_K", 256, 176, 5, _q5_k),
    14: _coded("Q6_K", 256, 210, 6, _q6_k, offset=32),
    20: _coded("IQ4_NL", 32, 18, 4, _iq4_nl, table=_NL),
    23: _coded("IQ4_XS", 256, 136, 4, _iq4_xs, table=_NL),
    28: BlockFormat("F64", 1, 8, _plain(np.float64)),
    30: BlockFormat("BF16", 1, 2, _bf16),
}
