# SPDX-License-Identifier: BSD-3-Clause
"""Rows of what folds dimensions, and orders along one."""

from __future__ import annotations

from collections.abc import Sequence

from torch.fx import Node

from executorch.backends.qualcomm.aot.encodings import TYPES
from executorch.backends.qualcomm.aot.graph import Parameter, flag, uint32, uints
from executorch.backends.qualcomm.aot.rows import OF_FLOATS, OF_NUMBERS, Lower, either, row
from executorch.backends.qualcomm.aot.writer import GraphWriter
from executorch.exir.backend.lowering.annotation import ARITHMETIC, ARITHMETIC_OF_FLOATS
from executorch.exir.backend.lowering.layout import Candidates, plain
from executorch.exir.backend.lowering.mode_steps import ModeStep
from executorch.exir.backend.lowering.op_table import Row, when
from executorch.exir.graph_facts import argument, arguments_by_name


def _dims(node: Node) -> list[int]:
    """All where none is given."""
    given = arguments_by_name(node).get("dim")
    given = [given] if isinstance(given, int) else list(given or ())
    rank = node.args[0].meta["val"].dim()
    return sorted(dim % rank for dim in given) or list(range(rank))


def _keeps(node: Node) -> dict[str, Parameter]:
    """keep_dims, which is not said where it is false."""
    return {"keep_dims": flag(True)} if arguments_by_name(node).get("keepdim") else {}


def _fold(kind: str) -> Lower:
    def lower(w: GraphWriter, step: ModeStep) -> None:
        axes = sorted(w.axis(dim) for dim in _dims(step.head))
        w.give(kind, w.take(step.head.args[0]), axes=uints(axes), **_keeps(step.head))

    return lower


def _place(kind: str) -> Lower:
    """Of all elements where no dimension is given."""

    def lower(w: GraphWriter, step: ModeStep) -> None:
        x, dim = step.head.args[0], argument(step.head, "dim")
        source = w.take(x)
        if dim is None:
            source = w.reshaped(source, [x.meta["val"].numel()])
            w.give(kind, source, axis=uint32(0))
            return
        w.give(kind, source, axis=uint32(w.axis(dim)), **_keeps(step.head))

    return lower


def _fold_and_place(fold: str, place: str) -> Lower:
    """Of the two results those that are read."""

    def lower(w: GraphWriter, step: ModeStep) -> None:
        x, dim = step.head.args[:2]
        keeps, axis = _keeps(step.head), w.axis(dim)
        for item in w.items(step):
            target = w.write(item.value, w.candidate.gives)
            if item.place == 0:
                w.emit(fold, [w.take(x)], target, axes=uints([axis]), **keeps)
            else:
                w.emit(place, [w.take(x)], target, axis=uint32(axis), **keeps)

    return lower


def _cumulative(w: GraphWriter, step: ModeStep) -> None:
    x, dim = step.head.args[:2]
    w.give(
        "CumulativeSum",
        w.take(x),
        axis=uint32(w.axis(dim)),
        exclusive=flag(False),
        reverse=flag(False),
    )


def _top(w: GraphWriter, step: ModeStep) -> None:
    count = uint32(argument(step.head, "k"))
    smallest = {} if argument(step.head, "largest", True) else {"largest": flag(False)}
    w.give_items("TopK", w.take(step.head.args[0]), k=count, **smallest)


def _kept(step: ModeStep, operands: Sequence[Node]) -> Candidates:
    """In either layout where the result has all dimensions."""
    return (either if _keeps(step.head) else plain)(step, operands)


def _keeps_dtype(node: Node) -> bool:
    dtype = arguments_by_name(node).get("dtype")
    return dtype is None or TYPES[dtype] == TYPES[node.args[0].meta["val"].dtype]


def _is_last(node: Node) -> bool:
    rank = node.args[0].meta["val"].dim()
    return argument(node, "dim", -1) % max(rank, 1) == max(rank, 1) - 1


HAS_DIMS = when(lambda node: node.args[0].meta["val"].dim() > 0, "dimensions are expected")
SAME_DTYPE = when(_keeps_dtype, "a result of the input's dtype is expected")
LAST = when(_is_last, "topk along the last dimension is expected")


def _folded(kind: str, *conditions: object) -> Row:
    return row(
        _fold(kind),
        HAS_DIMS,
        OF_NUMBERS,
        SAME_DTYPE,
        *conditions,
        layouts=_kept,
        annotation=ARITHMETIC,
    )


ROWS: dict[str, Row] = {
    "aten.amax.default": _folded("ReduceMax"),
    "aten.amin.default": _folded("ReduceMin"),
    "aten.mean.dim": _folded("ReduceMean", OF_FLOATS),
    "aten.mean.default": _folded("ReduceMean", OF_FLOATS),
    "aten.max.default": _folded("ReduceMax"),
    "aten.min.default": _folded("ReduceMin"),
    "aten.sum.dim_IntList": _folded("ReduceSum"),
    "aten.argmax.default": row(
        _place("Argmax"), HAS_DIMS, OF_NUMBERS, layouts=plain, annotation=ARITHMETIC_OF_FLOATS
    ),
    "aten.argmin.default": row(
        _place("Argmin"), HAS_DIMS, OF_NUMBERS, layouts=plain, annotation=ARITHMETIC_OF_FLOATS
    ),
    "aten.max.dim": row(
        _fold_and_place("ReduceMax", "Argmax"), HAS_DIMS, OF_NUMBERS, layouts=_kept
    ),
    "aten.min.dim": row(
        _fold_and_place("ReduceMin", "Argmin"), HAS_DIMS, OF_NUMBERS, layouts=_kept
    ),
    "aten.cumsum.default": row(
        _cumulative, HAS_DIMS, OF_NUMBERS, SAME_DTYPE, layouts=either, annotation=ARITHMETIC
    ),
    "aten.topk.default": row(_top, HAS_DIMS, OF_NUMBERS, LAST, layouts=plain),
}
