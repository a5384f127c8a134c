# SPDX-License-Identifier: BSD-3-Clause
"""Rows of what copies, joins and cuts."""

from __future__ import annotations

from torch.fx import Node

from executorch.backends.samsung.aot.rows import EnnRow, moved, quant_dtype
from executorch.backends.samsung.aot.writer import GraphWriter
from executorch.exir.backend.lowering.layout import PLAIN
from executorch.exir.backend.lowering.mode_steps import ModeStep
from executorch.exir.backend.lowering.op_table import Condition, Constants, has_rank, when
from executorch.exir.graph_facts import argument, static_sizes


def _concat(w: GraphWriter, step: ModeStep) -> None:
    tensors, rank = step.head.args[0], step.head.meta["val"].dim()
    constants = [place for place, each in enumerate(tensors) if each in w.constants]
    own = {"constant_index": constants[0]} if constants else {}
    axis = argument(step.head, "dim", 0) % rank
    w.give("CONCAT", *map(w.take, tensors), axis=axis, **own, **quant_dtype(step))


def _view(w: GraphWriter, step: ModeStep) -> None:
    source = w.take(step.head.args[0])
    w.reshape(source, w.write(step.result))


def _expand(w: GraphWriter, step: ModeStep) -> None:
    """Copies side by side, or another shape."""
    source, grown = w.take(step.head.args[0]), _grown(step.head)
    if not grown:
        w.reshape(source, w.write(step.result))
        return
    ((axis, count),) = grown.items()
    source = w.reshaped(source, _lined_up(step.head))
    w.give("CONCAT", *[source] * count, axis=axis)


def _lined_up(node: Node) -> list[int]:
    """The operand's sizes, with as many dimensions as the result's."""
    before = static_sizes(node.args[0])
    return [1] * (len(static_sizes(node)) - len(before)) + before


def _grown(node: Node) -> dict[int, int]:
    pairs = zip(_lined_up(node), static_sizes(node), strict=True)
    return {axis: after for axis, (before, after) in enumerate(pairs) if before != after}


def _permute(w: GraphWriter, step: ModeStep) -> None:
    x, dims = step.head.args[:2]
    rank = x.meta["val"].dim()
    w.give("TRANSPOSE", w.take(x), perm=tuple(dim % rank for dim in dims))


def _cut(w: GraphWriter, x: Node, dim: int, begin: int, end: int, stride: int, **own: int) -> None:
    sizes = static_sizes(x)
    begins, ends, strides = [0] * len(sizes), list(sizes), [1] * len(sizes)
    begins[dim], ends[dim], strides[dim] = begin, end, stride
    places = {"begin": tuple(begins), "end": tuple(ends), "strides": tuple(strides)}
    w.give("STRIDEDSLICE", w.take(x), **places, **own)


def _slice(w: GraphWriter, step: ModeStep) -> None:
    x, dim = step.head.args[0], argument(step.head, "dim", 0) % step.head.meta["val"].dim()
    given = slice(*(argument(step.head, name) for name in ("start", "end", "step")))
    _cut(w, x, dim, *given.indices(static_sizes(x)[dim]))


def _select(w: GraphWriter, step: ModeStep) -> None:
    x, dim, index = step.head.args[:3]
    dim %= x.meta["val"].dim()
    index %= static_sizes(x)[dim]
    _cut(w, x, dim, index, index + 1, 1, shrink_axis_mask=1 << dim)


def _pad(w: GraphWriter, step: ModeStep) -> None:
    """The last dimension comes first in the call's list."""
    x, given = step.head.args[:2]
    missing = x.meta["val"].dim() - len(given) // 2
    before, behind = ([0] * missing + list(given[start::2][::-1]) for start in (0, 1))
    own = {"padding": "EXPLICIT", "padding_type": "CONSTANT"}
    w.give("PAD", w.take(x), explicit_padding=(*before, *behind), **own)


def _pixel_shuffle(w: GraphWriter, step: ModeStep) -> None:
    x, factor = step.head.args[:2]
    w.give("DEPTH_TO_SPACE", w.take(x), block_size=int(factor), mode="CRD")


def _copy(w: GraphWriter, step: ModeStep) -> None:
    w.rename(step.result, PLAIN, step.head.args[0], PLAIN)


# ---- Conditions ----


def _has_one_constant(node: Node, constants: Constants) -> bool:
    return sum(each in constants for each in node.args[0]) <= 1


def _is_float(node: Node) -> bool:
    return node.meta["val"].is_floating_point()


ONE_CONSTANT = Condition(_has_one_constant, "at most one constant is expected")
ONE_AXIS = when(lambda node: len(_grown(node)) <= 1, "one dimension that grows is expected")
ZEROS = when(
    lambda node: not argument(node, "value", 0) and all(each >= 0 for each in node.args[1]),
    "padding with zeros, of sizes that are not negative, is expected",
)
FLOATS = when(_is_float, "floats are expected")
IMAGE = has_rank(4)

ROWS: dict[str, EnnRow] = {
    "aten.cat.default": moved(_concat, ONE_CONSTANT),
    **{f"aten.{name}": moved(_view)
       for name in ("view_copy.default", "squeeze_copy.dims", "squeeze_copy.dim", "unsqueeze_copy.default")},
    "aten.expand_copy.default": moved(_expand, ONE_AXIS),
    "aten.permute_copy.default": moved(_permute),
    "aten.select_copy.int": moved(_select),
    "aten.slice_copy.Tensor": moved(_slice),
    "aten.constant_pad_nd.default": moved(_pad, FLOATS, ZEROS),
    "aten.pixel_shuffle.default": moved(_pixel_shuffle, FLOATS, IMAGE, preserved=True),
    **{name: moved(_copy)
       for name in ("aten.clone.default", "aten.alias_copy.default", "aten.detach_copy.default",
                    "dim_order_ops._clone_dim_order.default")},
}  # fmt: skip
