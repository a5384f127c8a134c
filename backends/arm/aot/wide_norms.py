# SPDX-License-Identifier: BSD-3-Clause
"""Norms of values of 16 bits. Each row is brought to 29 bits by its own largest distance, so that rows of few quanta
are as exact as others; the root's reciprocal is looked up and made exact by a step of Newton's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from executorch.backends.arm.aot.writer import TosaWriter

# Values of a row, by the bits of each: sums of halves of squares fit in INT32.
MAX_COUNT = {8: 2**17 - 1, 16: 2**13}
_FINER = 12  # bits of a distance below a quantum
_BITS = 29  # of a row's largest distance: what RESCALE gives has 29
_LEAST_UP = _BITS - 16 - _FINER  # of the largest distance that 16 bits have
_HALF = 14
_MAX_HALVINGS = 8
NORMAL = 2 ** (44.5 - _BITS / 2 - _MAX_HALVINGS)  # 1 of a normalized value


@dataclass(frozen=True)
class Spread:
    """`apart`: distances times 2^`up` and 2^_FINER; `square`: the mean of their squares over 2^_BITS."""

    apart: int
    up: int
    square: int


def root_of_eps(eps: float, scale: float) -> float:
    """In the unit of distances."""
    return math.sqrt(eps) / scale * 2**_FINER


def spread(
    w: TosaWriter, x: int, axes: Sequence[int], count: int, floor: float, around_zero: bool = False
) -> Spread:
    """`floor`: what distances are measured by where they are less."""
    fine = w.rescale(x, "INT32", [2.0**_FINER])
    ends = [w.rescale(w.reduce(op, x, axes), "INT32", [2.0**_FINER])
            for op in ("REDUCE_MAX", "REDUCE_MIN")]  # fmt: skip
    if not around_zero:
        total = w.reduce("REDUCE_SUM", w.rescale(x, "INT32", [1.0]), axes)
        mean = w.rescale(total, "INT32", [2.0**_FINER / count])
        fine, *ends = (w.binary("SUB", each, mean) for each in (fine, *ends))
    far = w.binary("MAXIMUM", ends[0], w.negate(ends[1]))
    far = w.with_number("MAXIMUM", far, max(1, math.ceil(floor)))
    up = w.with_number("SUB", w.unary("CLZ", far), 31 - (_BITS - 1))
    apart = w.binary("LOGICAL_LEFT_SHIFT", fine, up)
    return Spread(apart, up, mean_of(w, w.mul32(apart, apart, _BITS), axes, count))


def mean_of(w: TosaWriter, squares: int, axes: Sequence[int], count: int) -> int:
    """Of two sums, of the squares' halves: nothing is lost before the division. Squares of up to 29 bits."""
    high = w.shifted_right(squares, w.full(_HALF, "INT32", w.rank(squares)), False)
    low = w.binary("SUB", squares, w.mul32(high, w.full(2**_HALF, "INT32", w.rank(high))))
    means = [w.rescale(w.reduce("REDUCE_SUM", part, axes), "INT32", [unit / count])
             for part, unit in ((high, 2.0**_HALF), (low, 1.0))]  # fmt: skip
    return w.binary("ADD", *means)


def over_root(w: TosaWriter, found: Spread, floor: float) -> int:
    """apart / root(square + floor^2), 1 as NORMAL."""
    digits = min(20, 30 - max(1, math.ceil(floor)).bit_length())
    one = w.full(1, "INT32", w.rank(found.up))
    root = w.mul32(
        w.binary("LOGICAL_LEFT_SHIFT", one, found.up),
        w.full(round(floor * 2**digits), "INT32", w.rank(found.up)),
        digits,
    )
    total = w.binary("ADD", found.square, w.mul32(root, root, _BITS))
    total = w.with_number("MAXIMUM", total, 1)
    clear = w.with_number("SUB", w.unary("CLZ", total), 1)
    half = w.shifted_right(clear, w.full(1, "INT32", w.rank(clear)), False)
    normal = w.binary("LOGICAL_LEFT_SHIFT", total, w.binary("ADD", half, half))  # 2^29 to 2^31
    product = w.mul32(found.apart, _inverse_root(w, normal), _BITS)
    return w.shifted_right(product, w.number_with("SUB", _MAX_HALVINGS, half))


def _inverse_root(w: TosaWriter, normal: int) -> int:
    """root(2^29 / normal), 1 as 2^30: r + r * (1 - normal * r^2) / 2 of an r of 15 bits."""
    points = np.maximum(np.linspace(-(2**15), 2**15, 513), 2**13)
    short = w.rescale(normal, "INT16", [2.0**-16])
    r = w.looked_up(short, 2**15 * np.sqrt(2**13 / points))
    off = w.number_with("SUB", 2**30, w.mul32(normal, w.mul32(r, r), 29))
    fine = w.mul32(r, w.full(2**15, "INT32", w.rank(r)))
    return w.binary("ADD", fine, w.mul32(fine, off, 31))


def variance(w: TosaWriter, x: int, axes: Sequence[int], count: int) -> tuple[int, float]:
    """INT32, and its unit in squared quanta."""
    found = spread(w, x, axes, count, 0)
    down = w.with_number("SUB", found.up, _LEAST_UP)
    down = w.with_number("MINIMUM", w.binary("ADD", down, down), 31)
    return w.shifted_right(found.square, down), 2.0 ** (_BITS - 2 * _LEAST_UP - 2 * _FINER)
