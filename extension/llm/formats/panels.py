# SPDX-License-Identifier: BSD-3-Clause
"""Rows of GGUF blocks laid out as kernels/optimized/blocks/formats.h says: 16 rows are a panel, in which one
instruction finds 4 columns of each row side by side. The same bits, in another order;
a K format's scales of 6 bits take 8."""

from __future__ import annotations

import numpy as np

from executorch.extension.llm.formats.blocks import BLOCK_FORMATS, BlockFormat, Fields

ROWS, UNIT, QUADS = 16, 32, 8
_AT_ONCE = 4096  # rows whose codes are bytes at a time
NUMBERS = {form.name: number for number, form in BLOCK_FORMATS.items()}


def _planes(form: BlockFormat) -> tuple[int, ...]:
    """Bits of a code that lie together: the low ones, then the rest."""
    low = form.code_bits if form.code_bits in (2, 4, 8) else 4 if form.code_bits > 4 else 2
    return tuple(bits for bits in (low, form.code_bits - low) if bits)


def _counts(form: BlockFormat) -> tuple[int, int, int]:
    """Units of a block, numbers of scales (and of minima) of a unit, factors of a block."""
    empty = form.fields(np.zeros((1, form.bytes), np.uint8))
    units = form.numbers // UNIT
    factors = 0 if empty.factors is None else empty.factors.shape[1]
    return units, empty.scales.shape[1] // units, factors


def _has_minima(form: BlockFormat) -> bool:
    return form.fields(np.zeros((1, form.bytes), np.uint8)).minima is not None


def panel_bytes(form: BlockFormat, columns: int) -> int:
    units, groups, factors = _counts(form)
    width = 1 if factors else 2
    numbers = ROWS * groups * width * (2 if _has_minima(form) else 1)
    unit = numbers + sum(UNIT * ROWS * bits // 8 for bits in _planes(form))
    return columns // form.numbers * (2 * ROWS * factors + units * unit)


def pack_panels(form: BlockFormat, rows: np.ndarray) -> np.ndarray:
    """uint8 [rows, bytes of a row] -> uint8 [panels, bytes of a panel]; rows that fill the last panel are 0."""
    blocks = rows.shape[1] // form.bytes
    parts = (_filled(rows[part]).reshape(-1, form.bytes) for part in _parts(len(rows)))
    return np.concatenate([_pack(form, form.fields(part), blocks) for part in parts])


def pack_codes(form: BlockFormat, codes: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Signed codes int8 [rows, columns] and scales [rows, groups] of a format without minima and factors -> panels."""
    blocks = codes.shape[1] // form.numbers

    def fields(part: slice) -> Fields:
        stored = (_filled(codes[part]).astype(np.int16) + form.offset).astype(np.uint8)
        held = _filled(scales[part]).astype(np.float16)
        return Fields(stored.reshape(-1, form.numbers), held.reshape(len(held) * blocks, -1))

    return np.concatenate([_pack(form, fields(part), blocks) for part in _parts(len(codes))])


def _parts(rows: int) -> list[slice]:
    return [slice(at, at + _AT_ONCE) for at in range(0, rows, _AT_ONCE)]


def _filled(rows: np.ndarray) -> np.ndarray:
    """With rows of 0 behind them that fill a panel."""
    return np.pad(rows, ((0, -len(rows) % ROWS), (0, 0)))


def _pack(form: BlockFormat, fields: Fields, blocks: int) -> np.ndarray:
    """Of rows of `blocks` that fill panels."""
    units = form.numbers // UNIT
    panels = len(fields.codes) // blocks // ROWS

    def by_unit(numbers: np.ndarray, parts: int) -> np.ndarray:
        """[panels, blocks, units, bytes]: the numbers of 16 rows side by side."""
        split = numbers.reshape(panels, ROWS, blocks, units, parts)
        moved = np.ascontiguousarray(split.transpose(0, 2, 3, 4, 1))
        return moved.view(np.uint8).reshape(panels, blocks, units, -1)

    codes = fields.codes.reshape(panels, ROWS, blocks, units, QUADS, 4)
    codes = codes.transpose(0, 2, 3, 4, 1, 5).reshape(panels, blocks, units, QUADS, ROWS * 4)
    parts = [by_unit(each, each.size // (panels * ROWS * blocks * units))
             for each in (fields.scales, fields.minima) if each is not None]  # fmt: skip
    taken = 0
    for bits in _planes(form):
        field = codes >> taken & ((1 << bits) - 1)
        field = field.reshape(panels, blocks, units, -1, 8 // bits, ROWS * 4)
        shifts = np.arange(0, 8, bits, dtype=np.uint8)[:, None]
        plane = np.bitwise_or.reduce(field << shifts, axis=-2)
        parts.append(plane.astype(np.uint8).reshape(panels, blocks, units, -1))
        taken += bits
    body = np.concatenate(parts, -1).reshape(panels, blocks, -1)
    if fields.factors is not None:
        factors = fields.factors.reshape(panels, ROWS, blocks, -1).transpose(0, 2, 3, 1)
        factors = np.ascontiguousarray(factors).view(np.uint8).reshape(panels, blocks, -1)
        body = np.concatenate((factors, body), -1)
    return body.reshape(panels, -1)


def unpack_panels(form: BlockFormat, packed: np.ndarray, rows: int) -> np.ndarray:
    """The numbers: float32 [rows, columns]."""
    panels, per_block = len(packed), panel_bytes(form, form.numbers)
    units, groups, factor_count = _counts(form)
    blocks = packed.shape[1] // per_block
    body = packed.reshape(panels, blocks, per_block)
    head = 2 * ROWS * factor_count
    by_unit = body[..., head:].reshape(panels, blocks, units, -1)
    signed = form.fields(np.zeros((1, form.bytes), np.uint8))
    at = 0

    def numbers(like: np.ndarray) -> np.ndarray:
        nonlocal at
        size = ROWS * groups * like.dtype.itemsize
        part = np.ascontiguousarray(by_unit[..., at : at + size]).view(like.dtype)
        at += size
        part = part.reshape(panels, blocks, units, groups, ROWS).transpose(0, 4, 1, 2, 3)
        return part.reshape(panels * ROWS * blocks, units * groups)

    scales = numbers(signed.scales)
    minima = None if signed.minima is None else numbers(signed.minima)
    codes = np.zeros((panels, blocks, units, QUADS, ROWS * 4), np.uint8)
    taken = 0
    for bits in _planes(form):
        size = UNIT * ROWS * bits // 8
        plane = by_unit[..., at : at + size].reshape(panels, blocks, units, -1, 1, ROWS * 4)
        shifts = np.arange(0, 8, bits, dtype=np.uint8)[:, None]
        codes |= ((plane >> shifts & ((1 << bits) - 1)) << taken).astype(np.uint8).reshape(codes.shape)  # fmt: skip
        at, taken = at + size, taken + bits
    codes = codes.reshape(panels, blocks, units, QUADS, ROWS, 4).transpose(0, 4, 1, 2, 3, 5)
    factors = None
    if factor_count:
        factors = np.ascontiguousarray(body[..., :head]).view(np.float16)
        factors = factors.reshape(panels, blocks, factor_count, ROWS).transpose(0, 3, 1, 2)
        factors = factors.reshape(-1, factor_count)
    fields = Fields(codes.reshape(-1, form.numbers), scales, minima, factors)
    with np.errstate(invalid="ignore", over="ignore"):
        return form.numbers_of(fields).reshape(panels * ROWS, -1)[:rows]
