# SPDX-License-Identifier: BSD-3-Clause
"""Rows of what copies, joins and cuts, and of constants that a call makes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import torch
from torch.fx import Node

from executorch.backends.qualcomm.aot.encodings import TYPES
from executorch.backends.qualcomm.aot.graph import (
    DataType,
    Scalar,
    float32,
    int32,
    ints,
    uint32,
    uints,
)
from executorch.backends.qualcomm.aot.rows import OF_NUMBERS, OF_ONE_MODE, Lower, either, row
from executorch.backends.qualcomm.aot.writer import GraphWriter, narrow
from executorch.exir.backend.lowering.annotation import ARITHMETIC, SHARED, SHARED_FLOATS
from executorch.exir.backend.lowering.layout import Candidates, plain
from executorch.exir.backend.lowering.mode_steps import ModeStep, static_qparams
from executorch.exir.backend.lowering.op_table import Row, when
from executorch.exir.graph_facts import argument, op_name, static_sizes

_CONSTANT, _REFLECT = 0, 2  # scheme of Pad
_SCHEMES = {"constant": _CONSTANT, "reflect": _REFLECT}


def _joined(kind: str) -> Lower:
    def lower(w: GraphWriter, step: ModeStep) -> None:
        tensors, dim = step.head.args[0], argument(step.head, "dim", 0)
        rank, dtype = len(static_sizes(step.head)), step.head.meta["val"].dtype
        axis = w.axis(dim, step.head) if kind == "Concat" else dim % rank
        w.give(kind, *(w.cast(w.take(each, rank), dtype) for each in tensors), axis=uint32(axis))

    return lower


def _split(w: GraphWriter, step: ModeStep) -> None:
    x, sizes = step.head.args[:2]
    places = list(accumulate(sizes))[:-1]
    axis = uint32(w.axis(argument(step.head, "dim", 0)))
    w.give_items("Split", w.take(x), split_index=uints(places), axis=axis)


def _ranges(w: GraphWriter, node: Node, cut: dict[int, tuple[int, int, int]]) -> object:
    """Start, end and step of each dimension: of `cut`, or all."""
    sizes = static_sizes(node)
    rows = w.in_order([cut.get(dim, (0, size, 1)) for dim, size in enumerate(sizes)])
    return ints([number for each in rows for number in each], len(sizes), 3)


def _slice(w: GraphWriter, step: ModeStep) -> None:
    x = step.head.args[0]
    sizes = static_sizes(x)
    dim = argument(step.head, "dim", 0) % len(sizes)
    given = slice(*(argument(step.head, name) for name in ("start", "end", "step")))
    w.give("StridedSlice", w.take(x), ranges=_ranges(w, x, {dim: given.indices(sizes[dim])}))


def _select(w: GraphWriter, step: ModeStep) -> None:
    x, dim, index = step.head.args[:3]
    sizes = static_sizes(x)
    dim, index = dim % len(sizes), index % sizes[dim]
    ranges = _ranges(w, x, {dim: (index, index + 1, 1)})
    w.give("StridedSlice", w.take(x), ranges=ranges, shrink_axes=uint32(1 << dim))


def _flip(w: GraphWriter, step: ModeStep) -> None:
    x, dims = step.head.args[:2]
    sizes = static_sizes(x)
    cut = {dim % len(sizes): (sizes[dim] - 1, -1, -1) for dim in dims}
    w.give("StridedSlice", w.take(x), ranges=_ranges(w, x, cut))


def _reshape(w: GraphWriter, step: ModeStep) -> None:
    w.give("Reshape", w.take(step.head.args[0]))


def _repeated(w: GraphWriter, step: ModeStep) -> None:
    """By whole numbers of each dimension, behind new ones of size 1."""
    x = step.head.args[0]
    before, after = static_sizes(x), static_sizes(step.head)
    value = w.take(x)
    before = [1] * (len(after) - len(before)) + before
    if len(before) > len(static_sizes(x)) or not static_sizes(x):
        value = w.reshaped(value, before)
    multiples = [new // old for old, new in zip(before, after, strict=True)]
    w.give("Tile", value, multiples=uints(w.in_order(multiples)))


def _permute(w: GraphWriter, step: ModeStep) -> None:
    x, dims = step.head.args[:2]
    rank = len(static_sizes(x))
    w.give("Transpose", w.take(x), perm=uints(dim % rank for dim in dims))


def _swap(w: GraphWriter, step: ModeStep) -> None:
    x, first, second = step.head.args[:3]
    perm = list(range(len(static_sizes(x))))
    perm[first], perm[second] = perm[second], perm[first]
    w.give("Transpose", w.take(x), perm=uints(perm))


def _pad(w: GraphWriter, step: ModeStep) -> None:
    """The last dimension comes first in the call's list."""
    x, given = step.head.args[:2]
    rank = len(static_sizes(x))
    pairs = [(0, 0)] * (rank - len(given) // 2)
    pairs += [(given[i], given[i + 1]) for i in range(len(given) - 2, -1, -2)]
    amounts = [pad for pair in w.in_order(pairs) for pad in pair]
    scheme = _SCHEMES[_mode(step.head)]
    parameters = {"scheme": uint32(scheme), "pad_amount": uints(amounts, rank, 2)}
    if scheme == _CONSTANT:
        parameters["pad_constant_value"] = _filling(step)
    w.give("Pad", w.take(x), **parameters)


def _mode(node: Node) -> str:
    """Of a pad, and of the operators of one mode."""
    return "reflect" if "reflection" in op_name(node) else argument(node, "mode", "constant")


def _filling(step: ModeStep) -> Scalar:
    """What is padded with; of quantized values, quantized."""
    value = argument(step.head, "value", 0.0) or 0.0
    qparams = static_qparams(step.result) if step.is_quantized else None
    if qparams is None:
        is_integer = not step.head.meta["val"].dtype.is_floating_point
        return int32(int(value)) if is_integer else float32(value)
    made = round(value / qparams.scale) + qparams.zero_point
    return Scalar(DataType.INT_32, min(max(made, qparams.quant_min), qparams.quant_max))


def _gather(w: GraphWriter, step: ModeStep) -> None:
    x, dim, index = step.head.args[:3]
    w.give("Gather", w.take(x), w.take(index), axis=int32(w.axis(dim)))


def _gather_elements(w: GraphWriter, step: ModeStep) -> None:
    x, dim, index = step.head.args[:3]
    w.give("GatherElements", w.take(x), w.take(index), axis=uint32(w.axis(dim)))


def _index(w: GraphWriter, step: ModeStep) -> None:
    x, indices = step.head.args[:2]
    (dim,) = (place for place, each in enumerate(indices) if each is not None)
    w.give("Gather", w.take(x), w.take(indices[dim]), axis=int32(dim))


def _embedding(w: GraphWriter, step: ModeStep) -> None:
    """The table's encoding becomes the result's by a Convert, where they differ."""
    table, indices = step.head.args[:2]
    source = w.read(table)
    result = w.write(step.result)
    made, index = result, w.read(indices)
    if w.values[source].encoding != w.values[result].encoding:
        given = w.values[source]
        made = w.native(w.values[result].dims, given.dtype, encoding=given.encoding)
    w.emit("Gather", [source, index], made, axis=int32(0))
    if made != result:
        w.emit("Convert", [made], result)


def _made(w: GraphWriter, step: ModeStep) -> None:
    """Of a call that reads nothing: a constant, quantized where its step is."""
    node = step.head
    data = node.target(*node.args, **node.kwargs)
    if step.is_quantized and (qparams := static_qparams(step.result)):
        data = step.result.target(data, *step.result.args[1:])
        made = w.quantized_static(data, qparams, range(data.dim()), node.name)
    else:
        data = narrow(data)
        made = w.static(data, TYPES[data.dtype], node.name)
    w.define(step.result, made)


# ---- Conditions ----


def _has_one_index(node: Node) -> bool:
    found = [each for each in node.args[1] if each is not None]
    return len(found) == 1 and found[0].meta["val"].dtype in (torch.int32, torch.int64)


def _keeps_sizes(step: ModeStep, operands: Sequence[Node]) -> Candidates:
    """As many dimensions as before."""
    is_same = len(static_sizes(step.head.args[0])) == len(static_sizes(step.head))
    return (either if is_same else plain)(step, operands)


ONE_INDEX = when(_has_one_index, "one tensor of indices is expected")
MODE = when(lambda node: _mode(node) in _SCHEMES, "a constant or reflection is expected")
NO_CUT = when(lambda node: all(each >= 0 for each in node.args[1]), "padding that adds is expected")
MADE = when(lambda node: not node.all_input_nodes, "a constant is expected")

_VIEWS = ("view_copy.default", "squeeze_copy.dims", "squeeze_copy.dim", "squeeze_copy.default",
          "unsqueeze_copy.default", "clone.default", "alias_copy.default", "detach_copy.default")  # fmt: skip
_MAKERS = (
    "full.default",
    "arange.start_step",
    "scalar_tensor.default",
    "zeros.default",
    "ones.default",
)
ROWS: dict[str, Row] = {
    "aten.cat.default": row(_joined("Concat"), OF_ONE_MODE, layouts=either, annotation=ARITHMETIC),
    "aten.stack.default": row(
        _joined("Pack"), OF_ONE_MODE, layouts=plain, preserved=True, annotation=ARITHMETIC
    ),
    "aten.split_with_sizes_copy.default": row(_split, layouts=either, annotation=SHARED),
    "aten.slice_copy.Tensor": row(_slice, layouts=either, annotation=SHARED),
    "aten.select_copy.int": row(_select, layouts=plain, annotation=SHARED),
    "aten.flip.default": row(_flip, layouts=either, annotation=SHARED),
    **{f"aten.{name}": row(_reshape, layouts=plain, annotation=SHARED) for name in _VIEWS},
    "dim_order_ops._clone_dim_order.default": row(_reshape, layouts=plain, annotation=SHARED),
    "aten.expand_copy.default": row(_repeated, layouts=_keeps_sizes, annotation=SHARED),
    "aten.repeat.default": row(_repeated, layouts=_keeps_sizes, annotation=SHARED),
    "aten.permute_copy.default": row(_permute, layouts=plain, annotation=SHARED),
    "aten.transpose_copy.int": row(_swap, layouts=plain, annotation=SHARED),
    "aten.constant_pad_nd.default": row(
        _pad, OF_NUMBERS, NO_CUT, layouts=either, annotation=SHARED
    ),
    **{
        f"aten.{name}.default": row(
            _pad, OF_NUMBERS, MODE, NO_CUT, layouts=either, preserved=True, annotation=SHARED
        )
        for name in ("pad", "reflection_pad1d", "reflection_pad2d")
    },
    "aten.index_select.default": row(_gather, layouts=plain, annotation=SHARED_FLOATS),
    "aten.gather.default": row(_gather_elements, layouts=plain, annotation=SHARED_FLOATS),
    "aten.index.Tensor": row(_index, ONE_INDEX, layouts=plain, annotation=SHARED_FLOATS),
    "aten.embedding.default": row(_embedding, layouts=plain),
    **{f"aten.{name}": row(_made, MADE, layouts=plain) for name in _MAKERS},
}
