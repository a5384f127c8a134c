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


def _f16(block: Bytes, at: int, count: int = 1) -> Floats:
    return block[:, at : at + 2 * count].copy().view(np.float16).astype(np.float32)


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


def _q4_0(b: Bytes) -> Parts:
    return _f16(b, 0), _low_high(b[:, 2:]).astype(np.int8) - 8, None


def _q4_1(b: Bytes) -> Parts:
    return _f16(b, 0), _low_high(b[:, 4:]), -_f16(b, 2)


def _q5_0(b: Bytes) -> Parts:
    values = _low_high(b[:, 6:]) | (_bits(b, 2, 4) << 4)
    return _f16(b, 0), values.astype(np.int8) - 16, None


def _q5_1(b: Bytes) -> Parts:
    return _f16(b, 0), _low_high(b[:, 8:]) | (_bits(b, 4, 4) << 4), -_f16(b, 2)


def _q8_0(b: Bytes) -> Parts:
    return _f16(b, 0), b[:, 2:].view(np.int8), None


def _grouped(scales: Floats, values: np.ndarray, minima: Floats | None = None) -> Floats:
    """One scale, and perhaps one minimum to subtract, for each of equal groups."""
    groups = values.astype(np.float32).reshape(*scales.shape, -1) * scales[..., None]
    if minima is not None:
        groups = groups - minima[..., None]
    return groups.reshape(len(values), -1)


def _k_scales(b: Bytes, at: int) -> tuple[np.ndarray, np.ndarray]:
    """Eight scales and eight minima of 6 bits in 12 bytes."""
    low, mid, high = (b[:, at + i : at + i + 4] for i in (0, 4, 8))
    scales = np.concatenate((low & 63, (high & 15) | ((low >> 6) << 4)), -1)
    minima = np.concatenate((mid & 63, (high >> 4) | ((mid >> 6) << 4)), -1)
    return scales, minima


def _q2_k(b: Bytes) -> Parts:
    scales, minima = b[:, :16] & 15, b[:, :16] >> 4
    return _f16(b, 80) * scales, _fields(b, 16, 64, 2, 32), _f16(b, 82) * minima


def _q3_k(b: Bytes) -> Parts:
    low = np.concatenate((b[:, 96:104] & 15, b[:, 96:104] >> 4), -1)
    high = (b[:, 104:108][:, None, :] >> np.array([0, 2, 4, 6], np.uint8)[None, :, None]) & 3
    scales = (low | (high.reshape(len(b), -1) << 4)).astype(np.float32) - 32
    missing = 1 - _fields(b, 0, 32, 1, 32).astype(np.int8)
    return _f16(b, 108) * scales, _fields(b, 32, 64, 2, 32).astype(np.int8) - 4 * missing, None


def _q4_k(b: Bytes) -> Parts:
    scales, minima = _k_scales(b, 4)
    return _f16(b, 0) * scales, _fields(b, 16, 128, 4, 32), _f16(b, 2) * minima


def _q5_k(b: Bytes) -> Parts:
    scales, minima = _k_scales(b, 4)
    values = _fields(b, 48, 128, 4, 32) | (_fields(b, 16, 32, 1, 32) << 4)
    return _f16(b, 0) * scales, values, _f16(b, 2) * minima


def _q6_k(b: Bytes) -> Parts:
    values = _fields(b, 0, 128, 4, 64) | (_fields(b, 128, 64, 2, 32) << 4)
    scales = _f16(b, 208) * b[:, 192:208].view(np.int8)
    return scales, values.astype(np.int8) - 32, None


_NL = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.int8)


def _iq4_nl(b: Bytes) -> Parts:
    return _f16(b, 0), _NL[_low_high(b[:, 2:])], None


def _iq4_xs(b: Bytes) -> Parts:
    low = _fields(b, 4, 4, 4, 1)
    high = (b[:, 2:4].copy().view(np.uint16) >> np.arange(0, 16, 2, dtype=np.uint16)) & 3
    scales = (low | (high.astype(np.uint8) << 4)).astype(np.float32) - 32
    return _f16(b, 0) * scales, _NL[_fields(b, 8, 128, 4, 16)], None


def _plain(dtype: type) -> Callable[[Bytes], Floats]:
    return lambda b: b.copy().view(dtype).astype(np.float32)


def _bf16(b: Bytes) -> Floats:
    return (b.copy().view(np.uint16).astype(np.uint32) << 16).view(np.float32)


@dataclass(frozen=True)
class BlockFormat:
    """`parts`: scales [blocks, groups], codes [blocks, numbers], and minima to subtract, as scales, or None; codes are
    signed where there are no minima. Formats that are plain numbers have no parts."""

    name: str
    numbers: int  # of a block
    bytes: int
    dequantize: Callable[[Bytes], Floats]
    parts: Callable[[Bytes], Parts] | None = None
    code_bits: int = 0

    @property
    def bits(self) -> float:
        """Bits of a number, scales counted."""
        return 8 * self.bytes / self.numbers


def _coded(
    name: str, numbers: int, size: int, code_bits: int, parts: Callable[[Bytes], Parts]
) -> BlockFormat:
    return BlockFormat(name, numbers, size, lambda b: _grouped(*parts(b)), parts, code_bits)


# the number that a GGUF file gives each format
BLOCK_FORMATS = {
    0: BlockFormat("F32", 1, 4, _plain(np.float32)),
    1: BlockFormat("F16", 1, 2, _plain(np.float16)),
    2: _coded("Q4_0", 32, 18, 4, _q4_0),
    3: _coded("Q4_1", 32, 20, 4, _q4_1),
    6: _coded("Q5_0", 32, 22, 5, _q5_0),
    7: _coded("Q5_1", 32, 24, 5, _q5_1),
    8: _coded("Q8_0", 32, 34, 8, _q8_0),
    10: _coded("Q2_K", 256, 84, 2, _q2_k),
    11: _coded("Q3_K", 256, 110, 3, _q3_k),
    12: _coded("Q4_K", 256, 144, 4, _q4_k),
    13: _coded("Q5_K", 256, 176, 5, _q5_k),
    14: _coded("Q6_K", 256, 210, 6, _q6_k),
    20: _coded("IQ4_NL", 32, 18, 8, _iq4_nl),
    23: _coded("IQ4_XS", 256, 136, 8, _iq4_xs),
    28: BlockFormat("F64", 1, 8, _plain(np.float64)),
    30: BlockFormat("BF16", 1, 2, _bf16),
}
