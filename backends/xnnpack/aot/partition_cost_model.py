# SPDX-License-Identifier: BSD-3-Clause
"""What XNNPACK is slower at than the kernels: pieces that compute less than their changes of layout cost, and
products by a number for each short row.

XNNPACK takes images channels last, the kernels take them plain, as they are. So a piece pays for transposes where an
image comes in and goes out; what it saves must be worth that. Both are counted in elements that a transpose moves.

The numbers below are fitted to 740 drawn layers and blocks, each measured with the delegate and without, so that wrong
decisions lose least: 8 kinds of layers of `python -m executorch.tools.bench.suite --shapes`, seeds 101 to 104, 16 kinds
of blocks of convolutions (Zen 4, AVX-512, two threads). Decided so, they take 1.05 times what the better choice takes
in geometric mean; all delegated 1.8 times, none 1.16. Before a permute that needs no transpose inside, as of an
image's patches before a norm, 54 of 54 were as fast inside or faster, whatever they computed.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Iterable

import torch
from torch.fx import Node

from executorch.backends.xnnpack.aot.graph_builder import (
    NHWC,
    PLAIN,
    is_channels_last,
    order_of,
    shape_of,
)
from executorch.backends.xnnpack.aot.lower import (
    is_same_in_both_layouts,
    keeps_channels,
)
from executorch.backends.xnnpack.aot.ops import TABLE
from executorch.backends.xnnpack.aot.steps import CONVOLUTION
from executorch.backends.xnnpack.aot.value_types import value_of
from executorch.exir.backend.lowering.layout import in_layout
from executorch.exir.graph_facts import is_shape_dynamic, op_name
from executorch.exir.passes.replace_view_copy_with_view_pass import shares_memory_as_view

TRANSPOSED = "faster when it is not delegated: what it computes is less than transposes would cost"
SHORT_ROWS = "faster when it is not delegated: one operand has a single number for each short row"

# Of an image of C channels, an element that is transposed costs 1 + _FEW_CHANNELS / C,
_FEW_CHANNELS = 16
# and so much are worth: a multiply-add; a weight, which is packed ahead; an element in a window of a pool; one of any
# other result. A resize that is not delegated takes longer by about what the transpose of its result costs.
_MULTIPLY_ADD, _WEIGHT, _POOLED, _RESULT = 1 / 256, 2.0, 1.25, 0.5
# Below this cost, some 50 microseconds, a piece is delegated all the same: who tries a small network finds it there.
_LEAST_COST = 1 << 18

# (n, m, w) by (n, m, 1): for w up to 48 XNNPACK takes 1.2 to 2.4 times as long as the kernel, from 64 on the same. So
# many elements are worth a delegate more; fewer are not delegated where they would be a delegate alone.
_SHORT_ROW = 64
_MANY_ELEMENTS, _FEW_ELEMENTS = 1 << 18, 1 << 12

_BROADCASTING = frozenset(
    f"aten.{name}"
    for name in (
        "add.Tensor",
        "sub.Tensor",
        "mul.Tensor",
        "div.Tensor",
        "maximum.default",
        "minimum.default",
    )
)
_POOLS = frozenset({"aten.max_pool2d_with_indices.default", "aten.avg_pool2d.default"})
_RESIZES = frozenset({"aten.upsample_bilinear2d.vec", "aten.upsample_nearest2d.vec"})
_WITH_BIAS = "aten.addmm.default"
_PRODUCTS = frozenset({"aten.linear.default", _WITH_BIAS, "aten.mm.default", "aten.bmm.default"})


class Layouts:
    """Which values of a piece lie channels last, in `channels_last`; in `transposed` those that need both layouts; in
    `renamed` the results of permutes that move nothing."""

    def __init__(self, nodes: Iterable[Node], constants: Collection[Node]) -> None:
        self.channels_last: set[Node] = set()
        self.transposed: set[Node] = set()
        self.renamed: set[Node] = set()
        self._constants = constants
        inside = dict.fromkeys(nodes)
        for node in inside:
            self._walk(node)
        for node in inside:
            if any(user not in inside for user in node.users) and _is_tensor(node):
                self._read(node, NHWC if is_channels_last(node) else PLAIN)

    def _walk(self, node: Node) -> None:
        values = (each for each in node.all_input_nodes if each not in self._constants)
        sources = [each for each in values if _gives_tensors(each)]
        self.channels_last |= {
            each for each in sources if _is_tensor(each) and is_channels_last(each)
        }
        if not sources or not _gives_tensors(node) or node.target is operator.getitem:
            if any(each in self.channels_last for each in sources):
                self.channels_last.add(node)
            return
        asked, given = self._layouts(node, sources)
        for source in sources:
            self._read(source, asked)
        if given == NHWC:
            self.channels_last.add(node)

    def _layouts(self, node: Node, sources: list[Node]) -> tuple[str, str]:
        """What a call reads and what it gives; all that its row says nothing of follows its operands."""
        rank, source = value_of(node).dim(), sources[0]
        there = [each in self.channels_last for each in sources]
        row = TABLE.get(op_name(node))
        if row is not None and row.takes_nhwc(node):
            return NHWC, NHWC
        if op_name(node) == "aten.permute_copy.default":
            here, other = (NHWC, PLAIN) if there[0] else (PLAIN, NHWC)
            if [dim % rank for dim in node.args[1]] != order_of(rank, here):
                return PLAIN, PLAIN
            self.renamed.add(node)
            return here, other
        if shares_memory_as_view(node):
            keeps = there[0] and keeps_channels(source, node)
            same = there[0] and is_same_in_both_layouts(source)
            return (NHWC if keeps or same else PLAIN), (NHWC if keeps else PLAIN)
        layout = _common_layout(rank, [value_of(each).dim() for each in sources], there)
        return layout, layout

    def _read(self, node: Node, layout: str) -> None:
        lies = NHWC if node in self.channels_last else PLAIN
        if lies != layout and value_of(node).dim() in (3, 4):
            self.transposed.add(node)


def _common_layout(rank: int, ranks: list[int], there: list[bool]) -> str:
    """NHWC when NCHW or NCDHW meet one that exists in it, NCL when all do, and the others fit: the same
    rank. Rows of tokens are sequences, too, and what computes on them is plain."""
    if not order_of(rank, NHWC) or any(each != rank for each in ranks):
        return PLAIN
    return NHWC if any(there) and (rank > 3 or all(there)) else PLAIN


def why_slower(nodes: list[Node], constants: Collection[Node]) -> str:
    """Why a piece is slower delegated than not; empty when it is not, or if it is not of floats of static sizes."""
    tensors = [node for node in nodes if _is_tensor(node)]
    if any(value_of(each).dtype != torch.float32 or is_shape_dynamic(each) for each in tensors):
        return ""
    layouts = Layouts(nodes, constants)
    if all(
        scales_short_rows(node, layouts.channels_last, _FEW_ELEMENTS)
        for node in nodes
        if op_name(node) in TABLE and not TABLE[op_name(node)].only_joins(node)
    ):
        return SHORT_ROWS
    cost = sum(map(_cost, layouts.transposed))
    saved = sum(_saved(node) for node in nodes if op_name(node))
    is_slower = cost >= _LEAST_COST and cost > saved and not layouts.renamed
    return TRANSPOSED if is_slower else ""


def worth_splitting_for(nodes: list[Node], constants: Collection[Node]) -> set[Node]:
    """Calls that are so much slower inside that what is around them may well become two delegates."""
    layouts = Layouts(nodes, constants)
    return {
        node for node in nodes if scales_short_rows(node, layouts.channels_last, _MANY_ELEMENTS)
    }


def _cost(node: Node) -> float:
    shape = shape_of(node)
    return math.prod(shape) * (1 + _FEW_CHANNELS / shape[1])


def _saved(node: Node) -> float:
    """In elements that a transpose moves."""
    result, name = value_of(node).numel(), op_name(node)
    if name == CONVOLUTION:
        weight = value_of(node.args[1])
        sums = value_of(node.args[0]).numel() if node.args[6] else result
        return sums * weight[0].numel() * _MULTIPLY_ADD + weight.numel() * _WEIGHT
    if name in _PRODUCTS:
        source = node.args[1 if name == _WITH_BIAS else 0]
        return result * value_of(source).shape[-1] * _MULTIPLY_ADD
    if name in _POOLS:
        return result * math.prod(node.args[1]) * _POOLED
    if name in _RESIZES:
        return _cost(node)
    return 0 if shares_memory_as_view(node) else result * _RESULT


def scales_short_rows(node: Node, channels_last: Collection[Node], least: int) -> bool:
    """Whether one of two operands has a single number where the result, of at least so many elements, has a short row
    as it lies in memory."""
    operands = [each for each in node.args if isinstance(each, Node) and _is_tensor(each)]
    if op_name(node) not in _BROADCASTING or len(operands) != 2 or is_shape_dynamic(node):
        return False
    layout = NHWC if node in channels_last else PLAIN
    shape = in_layout(shape_of(node), layout)
    if value_of(node).dtype != torch.float32 or math.prod(shape) < least:
        return False
    return any(1 < _repeated(each, shape, layout) < _SHORT_ROW for each in operands)


def _repeated(operand: Node, shape: list[int], layout: str) -> int:
    """How many neighbours in a result of `shape` read the same element of an operand; 1 if all do."""
    given = shape_of(operand)
    sizes = in_layout([1] * (len(shape) - len(given)) + given, layout)
    row = 1
    for size, new in zip(reversed(sizes), reversed(shape), strict=True):
        if size != 1:
            return row
        row *= new
    return 1


def _is_tensor(node: Node) -> bool:
    return isinstance(node.meta.get("val"), torch.Tensor)


def _gives_tensors(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor | tuple | list) and isinstance(
        value_of(node), torch.Tensor
    )
