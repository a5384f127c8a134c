# SPDX-License-Identifier: BSD-3-Clause
"""Rows of reductions and softmax."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from torch.fx import Node

from executorch.backends.nxp.aot.rows import (
    SAME_QPARAMS,
    Lower,
    NeutronRow,
    either,
    result_is,
    row,
    sizes_of,
)
from executorch.backends.nxp.aot.writer import TfliteWriter
from executorch.backends.nxp.backend.neutron_target_spec import NeutronTarget
from executorch.exir.backend.lowering.annotation import FROM_0_TO_1, SHARED
from executorch.exir.backend.lowering.layout import (
    NHWC,
    PLAIN,
    Candidates,
    LayoutCandidate,
    dims_in,
)
from executorch.exir.backend.lowering.mode_steps import ModeStep
from executorch.exir.backend.lowering.op_table import Condition, Constants, when
from executorch.exir.graph_facts import argument

_LARGEST_SPATIAL, _LARGEST_SOFTMAX, _CHANNELS_PER_PIPES = 4096, 65536, 4


def _dims(node: Node) -> list[int]:
    """Those that are reduced: all unless the call says some."""
    rank, given = len(sizes_of(node.args[0])), argument(node, "dim")
    given = [given] if isinstance(given, int) else given
    return sorted({dim % max(rank, 1) for dim in given} if given else range(rank))


def _reduced(kind: str) -> Lower:
    def lower(w: TfliteWriter, step: ModeStep) -> None:
        axes = w.ints(sorted(w.axis(dim) for dim in _dims(step.head)))
        keeps = bool(argument(step.head, "keepdim", False))
        source = w.take(step.head.args[0], len(sizes_of(step.head.args[0])))
        w.give(kind, source, axes, options="ReducerOptions", keep_dims=keeps)

    return lower


def _ways(step: ModeStep, operands: Sequence[Node]) -> Candidates:
    """Channels last, too, where the result has all dimensions, or what is left of them has the plain order."""
    node = step.head
    if argument(node, "keepdim", False):
        return either(step, operands)
    rank, dims = len(sizes_of(node.args[0])), _dims(node)
    found = {PLAIN: LayoutCandidate((PLAIN,), PLAIN)}
    kept = [dim for dim in dims_in(NHWC, rank) if dim not in dims]
    if rank > 2 and kept == sorted(kept):
        found[NHWC] = LayoutCandidate((NHWC,), PLAIN)
    return found


def _is_idle(step: ModeStep, constants: Constants) -> bool:
    sizes = sizes_of(step.head.args[0])
    return all(sizes[dim] == 1 for dim in _dims(step.head))


def _softmax(w: TfliteWriter, step: ModeStep) -> None:
    w.give("SOFTMAX", w.take(step.head.args[0]), options="SoftmaxOptions", beta=1.0)


def _softmax_ways(step: ModeStep, operands: Sequence[Node]) -> Candidates:
    """Along what is last in the layout."""
    rank, found = len(sizes_of(step.head)), {}
    dim = _softmax_dim(step.head)
    if dim == rank - 1:
        found[PLAIN] = LayoutCandidate((PLAIN,), PLAIN)
    if dim == 1 and rank > 2:
        found[NHWC] = LayoutCandidate((NHWC,), NHWC)
    return found


# ---- Conditions ----


def _softmax_dim(node: Node) -> int:
    return argument(node, "dim") % max(len(sizes_of(node)), 1)


def _is_along_channels(node: Node) -> bool:
    rank = len(sizes_of(node))
    return rank > 1 and _softmax_dim(node) in (1, rank - 1)


def _fits(target: NeutronTarget) -> Condition:
    most = 4096 // target.numPipes * _CHANNELS_PER_PIPES

    def test(node: Node) -> bool:
        sizes = sizes_of(node)
        channels = sizes[_softmax_dim(node)]
        spatial = prod(sizes) // channels
        return (
            channels % target.numMacs == 0
            and channels < most
            and spatial <= _LARGEST_SPATIAL
            and channels * spatial <= _LARGEST_SOFTMAX * target.numMacs
        )

    return when(
        test,
        f"softmax: channels in multiples of {target.numMacs}, fewer than {most}, and at most {_LARGEST_SPATIAL} places "
        "are expected",
    )


HAS_DIMS = when(lambda node: sizes_of(node.args[0]) != [], "dimensions are expected")
CHANNELS = when(_is_along_channels, "softmax along channels or the last dimension is expected")


def _fold(kind: str) -> NeutronRow:
    return row(
        _reduced(kind),
        HAS_DIMS,
        SAME_QPARAMS,
        layouts=_ways,
        annotation=SHARED,
        is_idle=_is_idle,
    )


def rows(target: NeutronTarget) -> dict[str, NeutronRow]:
    return {
        "aten.mean.dim": _fold("MEAN"),
        "aten.amax.default": _fold("REDUCE_MAX"),
        "aten.amin.default": _fold("REDUCE_MIN"),
        "aten.sum.dim_IntList": _fold("SUM"),
        "aten._softmax.default": row(
            _softmax, CHANNELS, _fits(target), result_is(1 / 256, -128, "1/256"), layouts=_softmax_ways,
            annotation=FROM_0_TO_1,
        ),
    }  # fmt: skip
