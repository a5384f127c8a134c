# SPDX-License-Identifier: BSD-3-Clause
"""Rows of what copies, joins and cuts."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.fx import Node

from executorch.backends.nxp.aot.rows import SAME_QPARAMS, NeutronRow, either, row, sizes_of
from executorch.backends.nxp.aot.writer import TfliteWriter, quantized
from executorch.exir.backend.lowering.annotation import SHARED
from executorch.exir.backend.lowering.layout import (
    NHWC,
    PLAIN,
    Candidates,
    LayoutCandidate,
    dims_in,
)
from executorch.exir.backend.lowering.mode_steps import ModeStep, qparams_of
from executorch.exir.backend.lowering.op_table import Constants, when
from executorch.exir.graph_facts import argument

_NHWC_TO_PLAIN, _PLAIN_TO_NHWC = "nhwc to plain", "plain to nhwc"


def _view(w: TfliteWriter, step: ModeStep) -> None:
    source, target = w.take(step.head.args[0], 0), w.write(step.result, w.candidate.gives)
    w.reshape(source, target)


def _view_ways(step: ModeStep, operands: Sequence[Node]) -> Candidates:
    """Channels last, too, where that is the same order of values."""
    found = {PLAIN: LayoutCandidate((PLAIN,), PLAIN)}
    before, after = (_has_one_order(each) for each in (step.head.args[0], step.head))
    if before or after:
        wants, gives = (NHWC if each else PLAIN for each in (before, after))
        found[NHWC] = LayoutCandidate((wants,), gives)
    if before and after:
        found[_NHWC_TO_PLAIN] = LayoutCandidate((NHWC,), PLAIN)
        found[_PLAIN_TO_NHWC] = LayoutCandidate((PLAIN,), NHWC)
    return found


def _has_one_order(node: Node) -> bool:
    """Of one channel, or of one place."""
    sizes = sizes_of(node)
    return len(sizes) > 2 and (sizes[1] == 1 or all(each == 1 for each in sizes[2:]))


def _permute(w: TfliteWriter, step: ModeStep) -> None:
    """With the transposes before and behind it in one."""
    before, after = w.candidate.wants[0], w.candidate.gives
    source, target = w.read(step.head.args[0], before), w.write(step.result, after)
    w.permute(source, target, _perm(step.head, before, after))


def _perm(node: Node, before: str, after: str) -> list[int]:
    rank = len(sizes_of(node))
    dims = [dim % rank for dim in node.args[1]]
    there = dims_in(before, rank)
    return [there.index(dims[dim]) for dim in dims_in(after, rank)]


def _permute_ways(step: ModeStep, operands: Sequence[Node]) -> Candidates:
    found = {PLAIN: LayoutCandidate((PLAIN,), PLAIN)}
    if len(sizes_of(step.head)) > 2:
        found[NHWC] = LayoutCandidate((NHWC,), NHWC)
        found[_NHWC_TO_PLAIN] = LayoutCandidate((NHWC,), PLAIN)
        found[_PLAIN_TO_NHWC] = LayoutCandidate((PLAIN,), NHWC)
    return found


def _joined(w: TfliteWriter, step: ModeStep) -> None:
    tensors, dim = step.head.args[0], argument(step.head, "dim", 0)
    axis = w.axis(dim, step.head)
    w.give("CONCATENATION", *map(w.take, tensors), options="ConcatenationOptions", axis=axis)


def _slice(w: TfliteWriter, step: ModeStep) -> None:
    x = step.head.args[0]
    sizes, after = sizes_of(x), sizes_of(step.head)
    begin = [0] * len(sizes)
    dim = argument(step.head, "dim", 0) % len(sizes)
    begin[dim] = _start(step.head)
    target = w.write(step.result, w.candidate.gives)
    w.sliced(w.take(x), w.in_order(begin), w.in_order(after), target)


def _start(node: Node) -> int:
    sizes = sizes_of(node.args[0])
    size, start = sizes[argument(node, "dim", 0) % len(sizes)], argument(node, "start", 0)
    return min(max(start + size if start < 0 else start, 0), size)


def _pad(w: TfliteWriter, step: ModeStep) -> None:
    """The last dimension comes first in the call's list."""
    x, given = step.head.args[:2]
    rank = len(sizes_of(x))
    pairs = [(0, 0)] * (rank - len(given) // 2)
    pairs += [(given[i], given[i + 1]) for i in range(len(given) - 2, -1, -2)]
    value = torch.tensor(float(argument(step.head, "value", 0.0) or 0.0))
    filling = int(quantized(value, qparams_of(step.result)))
    w.padded(w.take(x), w.in_order(pairs), filling, w.write(step.result, w.candidate.gives))


def _copy(w: TfliteWriter, step: ModeStep) -> None:
    w.rename(step.result, w.layout, step.head.args[0], w.layout)


# ---- Conditions ----


def _same_sizes(step: ModeStep, constants: Constants) -> bool:
    return sizes_of(step.head.args[0]) == sizes_of(step.head)


def _keeps_order(step: ModeStep, constants: Constants) -> bool:
    """Dimensions of more than one value keep their order."""
    sizes = sizes_of(step.head.args[0])
    moved = [dim % len(sizes) for dim in step.head.args[1]]
    large = [dim for dim in moved if sizes[dim] > 1]
    return large == sorted(large)


def _always(step: ModeStep, constants: Constants) -> bool:
    return True


def _is_one(step: ModeStep, constants: Constants) -> bool:
    return len(step.head.args[0]) == 1


NO_STEPS = when(lambda node: argument(node, "step", 1) == 1, "a step of 1 is expected")
NO_CUT = when(lambda node: all(each >= 0 for each in node.args[1]), "padding that adds is expected")

_VIEWS = ("view_copy.default", "squeeze_copy.default", "squeeze_copy.dim", "squeeze_copy.dims",
          "unsqueeze_copy.default")  # fmt: skip
_COPIES = ("aten.clone.default", "aten.alias_copy.default", "aten.detach_copy.default",
           "dim_order_ops._clone_dim_order.default")  # fmt: skip


def _moved(lower: object, *conditions: object, **how: object) -> NeutronRow:
    return row(lower, *conditions, SAME_QPARAMS, annotation=SHARED, **how)


ROWS: dict[str, NeutronRow] = {
    **{f"aten.{name}": _moved(_view, layouts=_view_ways, is_idle=_always) for name in _VIEWS},
    **{name: _moved(_copy, layouts=either, is_idle=_always) for name in _COPIES},
    "aten.permute_copy.default": _moved(_permute, layouts=_permute_ways, is_idle=_keeps_order),
    "aten.cat.default": _moved(_joined, layouts=either, is_idle=_is_one),
    "aten.slice_copy.Tensor": _moved(_slice, NO_STEPS, layouts=either, is_idle=_same_sizes),
    "aten.constant_pad_nd.default": _moved(_pad, NO_CUT, layouts=either, is_idle=_same_sizes),
}
