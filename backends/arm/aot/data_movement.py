# SPDX-License-Identifier: BSD-3-Clause
"""Rows that move values. What is quantized moves as it is stored, and rescaled where the result has another scale."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import prod

import torch
from torch.fx import Node

from executorch.backends.arm.aot.writer import TosaWriter
from executorch.exir.backend.lowering.layout import (
    NHWC,
    PLAIN,
    Candidates,
    LayoutCandidate,
    alike,
    dims_in,
    in_layout,
    plain,
)
from executorch.exir.backend.lowering.mode_steps import ModeStep as Step
from executorch.exir.backend.lowering.mode_steps import quantized_result, static_qparams
from executorch.exir.backend.lowering.payload.writer import num_bytes
from executorch.exir.graph_facts import static_sizes


def moved(w: TosaWriter, step: Step, value: int) -> None:
    """Gives what was moved."""
    if step.is_quantized:
        value = w.requantized(value, w.qparams_of(step.head.args[0]))
    w.set_result(value)


def plain_of(w: TosaWriter, node: Node) -> int:
    return w.read(node, PLAIN)


def same(w: TosaWriter, step: Step) -> None:
    moved(w, step, w.take(step.head.args[0]))


def _ones_aside(sizes: Sequence[int]) -> list[int]:
    return [size for size in sizes if size != 1]


def _is_same_in_both(node: Node) -> bool:
    """Whether its memory is the same plain and channels last."""
    sizes = static_sizes(node)
    return len(sizes) < 3 or sizes[1] == 1 or prod(sizes[2:]) == 1


def view_ways(step: Step, operands: Sequence[Node]) -> Candidates:
    """Where a memory is the same in both layouts, either is taken, and given."""
    if operands and _is_same_in_both(step.head.args[0]):
        return {PLAIN: LayoutCandidate((None,), PLAIN)}
    return plain(step, operands)


def view(w: TosaWriter, step: Step) -> None:
    node = step.head.args[0]
    layout = w.layout_of(node) if _is_same_in_both(node) and node not in w.constants else PLAIN
    moved(w, step, w.reshape(w.read(node, layout), static_sizes(step.head)))


def permute_ways(step: Step, operands: Sequence[Node]) -> Candidates:
    """From channels last to plain, and back, the memory stays: the result has the other name."""
    rank = step.head.meta["val"].dim()
    if not operands or rank < 3:
        return plain(step, operands)
    perm = [dim % rank for dim in step.head.args[1]]
    last = dims_in(NHWC, rank)
    candidates = {}
    if perm == last:
        candidates[NHWC] = LayoutCandidate((NHWC,), PLAIN)
    elif [perm[dim] for dim in last] == sorted(perm):
        candidates[NHWC] = LayoutCandidate((PLAIN,), NHWC)
    return {**candidates, PLAIN: LayoutCandidate((PLAIN,), PLAIN, cost=num_bytes(step.head))}


def permute(w: TosaWriter, step: Step) -> None:
    node, dims = step.head.args
    rank = len(dims)
    if w.layout == NHWC:
        moved(w, step, w.read(node, w.candidate.wants[0]))
    else:
        moved(w, step, w.permute(plain_of(w, node), [dim % rank for dim in dims]))


def transpose(w: TosaWriter, step: Step) -> None:
    """Of two dimensions; of `t`, of a matrix."""
    node, *dims = step.head.args
    rank = node.meta["val"].dim()
    order = list(range(rank))
    one, two = [dim % rank for dim in dims] if dims else (0, rank - 1)
    order[one], order[two] = order[two], order[one]
    moved(w, step, w.permute(plain_of(w, node), order))


def concat(w: TosaWriter, step: Step) -> None:
    parts, dim = step.head.args[0], (step.head.args[1] if len(step.head.args) > 1 else 0)
    parts = [each for each in parts if each.meta["val"].numel() or each.meta["val"].dim() > 1]
    values = [w.as_result(each) if step.is_quantized else w.take(each) for each in parts]
    rank = step.head.meta["val"].dim()
    w.set_result(w.concat(values, dims_in(w.layout, rank).index(dim % rank)))


def stack(w: TosaWriter, step: Step) -> None:
    parts, dim = step.head.args[0], (step.head.args[1] if len(step.head.args) > 1 else 0)
    sizes = static_sizes(step.head)
    axis = dim % len(sizes)
    sizes[axis] = 1
    values = [w.as_result(each) if step.is_quantized else plain_of(w, each) for each in parts]
    w.set_result(w.concat([w.reshape(each, sizes) for each in values], axis))


def _window(node: Node) -> tuple[int, int, int, int]:
    """Axis, start, end and step of a slice."""
    source, *rest = node.args
    dim, start, end, stride = (*rest, *(0, None, None, 1)[len(rest) :])
    rank = source.meta["val"].dim()
    size = static_sizes(source)[dim % rank]
    begin, stop, stride = slice(start, end, stride).indices(size)
    return dim % rank, begin, max(begin, stop), stride


def slice_copy(w: TosaWriter, step: Step) -> None:
    """With steps: one in every group of `stride` is kept."""
    dim, start, end, stride = _window(step.head)
    x, axis = w.take(step.head.args[0]), w.axis(dim)
    moved(w, step, strided(w, x, axis, start, end, stride))


def strided(w: TosaWriter, x: int, axis: int, start: int, end: int, stride: int) -> int:
    if stride == 1:
        return w.slice_axis(x, axis, start, end - start)
    count = -(-(end - start) // stride)
    size = w.shape(x)[axis]
    missing = max(0, start + count * stride - size)
    if missing:
        ends = [(0, missing if place == axis else 0) for place in range(w.rank(x))]
        x = w.pad(x, ends, 0)
    x = w.slice_axis(x, axis, start, count * stride)
    shape = list(w.shape(x))
    grouped = w.reshape(x, (*shape[:axis], count, stride, *shape[axis + 1 :]))
    kept = w.slice_axis(grouped, axis + 1, 0, 1)
    shape[axis] = count
    return w.reshape(kept, shape)


def select(w: TosaWriter, step: Step) -> None:
    node, dim, index = step.head.args
    x = plain_of(w, node)
    axis = dim % w.rank(x)
    place = index % w.shape(x)[axis]
    part = w.slice_axis(x, axis, place, 1)
    moved(w, step, w.reshape(part, static_sizes(step.head)))


def split(w: TosaWriter, step: Step) -> None:
    """Each item that is read. A quantized one is defined as what its quantize gives."""
    node, sizes = step.head.args[:2]
    dim = step.head.args[2] if len(step.head.args) > 2 else 0
    rank = node.meta["val"].dim()
    total = static_sizes(node)[dim % rank]
    if isinstance(sizes, int):
        sizes = [min(sizes, total - start) for start in range(0, total, sizes)]
    x, axis = w.take(node), w.axis(dim)
    for item in [user for user in step.head.users if user.target is operator.getitem]:
        place = item.args[1]
        part = w.slice_axis(x, axis, sum(sizes[:place]), sizes[place])
        item_result(w, step, item, part)


def unbind(w: TosaWriter, step: Step) -> None:
    node = step.head.args[0]
    dim = step.head.args[1] if len(step.head.args) > 1 else 0
    x = plain_of(w, node)
    for item in [user for user in step.head.users if user.target is operator.getitem]:
        part = w.slice_axis(x, dim % w.rank(x), item.args[1], 1)
        item_result(w, step, item, w.reshape(part, static_sizes(item)))


def item_result(w: TosaWriter, step: Step, item: Node, value: int) -> None:
    layout = w.candidate.gives or PLAIN
    if not step.is_quantized:
        w.define(item, value, layout)
        return
    stored = quantized_result(item)
    before, after = w.qparams_of(step.head.args[0]), static_qparams(stored)
    if before != after:
        value = w.rescale(
            value,
            w.dtype(value),
            [before.scale / after.scale],
            before.zero_point,
            after.zero_point,
        )
    w.define(stored, value, layout)


def expand(w: TosaWriter, step: Step) -> None:
    sizes = static_sizes(step.head)
    x = w.with_rank(plain_of(w, step.head.args[0]), len(sizes))
    times = [want // have for want, have in zip(sizes, w.shape(x), strict=True)]
    moved(w, step, w.tile(x, times))


def repeat(w: TosaWriter, step: Step) -> None:
    node, times = step.head.args
    moved(w, step, w.tile(w.with_rank(plain_of(w, node), len(times)), times))


def flip(w: TosaWriter, step: Step) -> None:
    x = w.take(step.head.args[0])
    for dim in step.head.args[1]:
        x = w.reverse(x, w.axis(dim))
    moved(w, step, x)


def roll(w: TosaWriter, step: Step) -> None:
    node, shifts = step.head.args[:2]
    dims = step.head.args[2] if len(step.head.args) > 2 else []
    x = w.take(node)
    for shift, dim in zip(shifts, dims, strict=True):
        axis = w.axis(dim)
        size = w.shape(x)[axis]
        cut = -shift % size
        if cut:
            parts = w.slice_axis(x, axis, cut, size - cut), w.slice_axis(x, axis, 0, cut)
            x = w.concat(parts, axis)
    moved(w, step, x)


def pad(w: TosaWriter, step: Step) -> None:
    """With a number, as the operand is stored."""
    node, flat = step.head.args[:2]
    number = step.head.args[2] if len(step.head.args) > 2 else 0
    rank = node.meta["val"].dim()
    ends = [(0, 0)] * rank
    for place in range(len(flat) // 2):
        ends[rank - 1 - place] = (flat[2 * place], flat[2 * place + 1])
    x = w.take(node)
    kept = in_layout(ends, w.layout)
    for axis, (before, after) in enumerate(kept):
        size = w.shape(x)[axis]
        if before < 0 or after < 0:
            x = w.slice_axis(x, axis, max(0, -before), size + min(0, before) + min(0, after))
    kept = [(max(0, before), max(0, after)) for before, after in kept]
    if step.is_quantized:
        qparams = w.qparams_of(node)
        info = torch.iinfo(qparams.dtype)
        stored = round(number / qparams.scale) + qparams.zero_point
        number = min(max(stored, info.min), info.max)
    moved(w, step, w.pad(x, kept, number))


def image_ways(step: Step, operands: Sequence[Node]) -> Candidates:
    """Either, of an image."""
    layouts = (PLAIN, NHWC) if step.head.meta["val"].dim() == 4 else (PLAIN,)
    return alike(operands, *layouts)


def pixel_shuffle(w: TosaWriter, step: Step) -> None:
    """[.., C r r, H, W] -> [.., C, H r, W r]; channels last by two transposes of four dimensions."""
    node, r = step.head.args
    if w.layout == NHWC:
        batch, height, width, channels = w.shape(x := w.read(node, NHWC))
        rows, count = batch * height, channels // (r * r)
        x = w.permute(w.reshape(x, (rows, width, count, r * r)), [0, 1, 3, 2])
        x = w.permute(w.reshape(x, (rows, width, r, r * count)), [0, 2, 1, 3])
        moved(w, step, w.reshape(x, (batch, height * r, width * r, count)))
        return
    *batch, channels, height, width = static_sizes(node)
    x = w.reshape(plain_of(w, node), (prod(batch), channels // (r * r), r, r, height, width))
    x = w.permute(x, [0, 1, 4, 2, 5, 3])
    moved(w, step, w.reshape(x, static_sizes(step.head)))


def pixel_unshuffle(w: TosaWriter, step: Step) -> None:
    node, r = step.head.args
    if w.layout == NHWC:
        batch, height, width, channels = w.shape(x := w.read(node, NHWC))
        rows, columns = batch * height // r, width // r
        x = w.permute(w.reshape(x, (rows, r, columns, r * channels)), [0, 2, 1, 3])
        x = w.permute(w.reshape(x, (rows, columns, r * r, channels)), [0, 1, 3, 2])
        moved(w, step, w.reshape(x, (batch, height // r, columns, channels * r * r)))
        return
    *batch, channels, height, width = static_sizes(node)
    x = w.reshape(plain_of(w, node), (prod(batch), channels, height // r, r, width // r, r))
    x = w.permute(x, [0, 1, 3, 5, 2, 4])
    moved(w, step, w.reshape(x, static_sizes(step.head)))


def take_rows(w: TosaWriter, x: int, indices: int, sizes: Sequence[int]) -> int:
    """Rows of a matrix."""
    rows = w.shape(x)
    width = w.num_elements(indices)
    x = w.reshape(x, (1, rows[0], prod(rows[1:])))
    found = w.gather(x, w.reshape(w.cast(indices, "INT32"), (1, width)))
    return w.reshape(found, sizes)


def embedding(w: TosaWriter, step: Step) -> None:
    table, indices = step.head.args[:2]
    x = plain_of(w, table)
    moved(w, step, take_rows(w, x, plain_of(w, indices), static_sizes(step.head)))


def index_select(w: TosaWriter, step: Step) -> None:
    node, dim, indices = step.head.args
    x = plain_of(w, node)
    moved(w, step, _rows_along(w, x, dim % w.rank(x), plain_of(w, indices)))


def _rows_along(w: TosaWriter, x: int, axis: int, indices: int) -> int:
    order = [axis, *(each for each in range(w.rank(x)) if each != axis)]
    x = w.permute(x, order)
    found = take_rows(w, x, indices, [w.num_elements(indices), *w.shape(x)[1:]])
    return w.permute(found, [order.index(each) for each in range(len(order))])


def gather(w: TosaWriter, step: Step) -> None:
    """Each row along the dimension for itself: rows of one element are gathered."""
    node, dim, indices = step.head.args
    x, places = plain_of(w, node), plain_of(w, indices)
    axis, rank = dim % w.rank(x), w.rank(x)
    order = [*(each for each in range(rank) if each != axis), axis]
    x, places = w.permute(x, order), w.permute(places, order)
    shape, count = w.shape(places), w.num_elements(places) // w.shape(places)[-1]
    found = w.gather(
        w.reshape(x, (count, w.shape(x)[-1], 1)),
        w.reshape(w.cast(places, "INT32"), (count, shape[-1])),
    )
    moved(w, step, w.permute(w.reshape(found, shape), [order.index(each) for each in range(rank)]))


MAX_RUNS = 64  # of an index, as slices


def runs_of(places: Sequence[int]) -> list[tuple[int, int]]:
    """First place and length of each stretch of an index in which places follow one another."""
    found: list[tuple[int, int]] = []
    for place in places:
        if found and sum(found[-1]) == place:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((place, 1))
    return found


def index(w: TosaWriter, step: Step) -> None:
    """By one index that is known: stretches of it, as of a pad that reflects, else rows."""
    node, indices = step.head.args
    (dim,) = (place for place, each in enumerate(indices) if each is not None)
    x, axis = w.take(node), w.axis(dim)
    size = w.shape(x)[axis]
    places = w.constants[indices[dim]].detach() % size
    runs = runs_of(places.tolist())
    if len(runs) <= MAX_RUNS:
        moved(w, step, w.concat([w.slice_axis(x, axis, *each) for each in runs], axis))
        return
    moved(w, step, _rows_along(w, x, axis, w.const(places.to(torch.int32), "INT32")))
