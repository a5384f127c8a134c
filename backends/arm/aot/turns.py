# SPDX-License-Identifier: BSD-3-Clause
"""Transposes as Ethos-U55 and U65 take them: of four dimensions of up to 65536.

before: [1, 1, 3, 3, 240, 240] by (0, 1, 4, 2, 5, 3)     after: [3, 3, 240, 240] by (2, 0, 3, 1)"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from executorch.backends.arm.aot.emitter import Emitter

LARGEST = 1 << 16
_RANK = 4


def fits(sizes: Sequence[int]) -> bool:
    return len(sizes) <= _RANK and max(sizes) <= LARGEST


def merged(sizes: Sequence[int], order: Sequence[int]) -> tuple[list[int], list[int]]:
    """Without ones, and with neighbours that stay together as one, up to the largest."""
    runs: list[list[int]] = []
    for dim in order:
        if sizes[dim] == 1:
            continue
        run = runs[-1] if runs else []
        follows = (
            run and all(sizes[each] == 1 for each in range(run[-1] + 1, dim)) and dim > run[-1]
        )
        if follows and prod(sizes[each] for each in run) * sizes[dim] <= LARGEST:
            run.append(dim)
        else:
            runs.append([dim])
    before = sorted(runs)
    return [prod(sizes[each] for each in run) for run in before], [
        before.index(run) for run in runs
    ]


def turned(w: Emitter, x: int, order: Sequence[int]) -> int:
    """Of any sizes."""
    result = [w.shape(x)[dim] for dim in order]
    sizes, dims = merged(w.shape(x), order)
    if not sizes:
        return w.reshape(x, result)
    x = w.reshape(x, sizes)
    made = _in_pieces(w, x, dims) if len(sizes) <= _RANK else _one_by_one(w, x, dims)
    return w.reshape(made, result)


def _in_pieces(w: Emitter, x: int, order: Sequence[int]) -> int:
    """Along a dimension that is too large."""
    sizes = w.shape(x)
    axis = sizes.index(max(sizes))
    if sizes[axis] <= LARGEST:
        return Emitter.permute(w, x, order)
    starts = range(0, sizes[axis], LARGEST)
    pieces = [w.slice_axis(x, axis, at, min(LARGEST, sizes[axis] - at)) for at in starts]
    return w.concat([_in_pieces(w, each, order) for each in pieces], list(order).index(axis))


def _one_by_one(w: Emitter, x: int, order: Sequence[int]) -> int:
    """Each dimension that comes next, before those that stand in its place."""
    sizes, now = list(w.shape(x)), list(range(len(order)))
    for place, dim in enumerate(order):
        at = now.index(dim)
        if at == place:
            continue
        groups = now[:place], now[place:at], [dim], now[at + 1 :]
        x = w.reshape(x, [prod(sizes[each] for each in group) for group in groups])
        x = _in_pieces(w, x, [0, 2, 1, 3])
        now = [*groups[0], dim, *groups[1], *groups[3]]
    return x
