# SPDX-License-Identifier: BSD-3-Clause
"""How values lie in memory around calls that want an image with its channels last.

before: %c = conv(%x); %r = relu(%c); %v = view(%r)       %x [N, C, H, W] as it is
after:  %y = copy(%x, NHWC); %c = conv(%y); %r = relu(%c); %z = copy(%r, NCHW); %v = view(%z)"""

from __future__ import annotations

import operator
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._guards import detect_fake_mode
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.fx.node import map_arg
from torch.fx.passes.infra.pass_base import PassResult
from torch.utils._pytree import tree_map_only

from executorch.exir.backend.lowering.quantized import is_dequantize, is_quantize
from executorch.exir.dialects._ops import ops
from executorch.exir.graph_facts import called_op, op_name

_COPY = ops.edge.dim_order_ops._clone_dim_order.default
_NHWC = [0, 2, 3, 1]
# Beside what is computed element by element: the result lies as the operand does.
_FOLLOWING = frozenset(
    {"aten.cat.default", "aten.constant_pad_nd.default", "dim_order_ops._clone_dim_order.default"}
)


def value_of(node: Node) -> Any:
    """What a call gives for the values of its arguments: fake ones in their mode."""
    args, kwargs = map_arg((node.args, node.kwargs), lambda each: each.meta["val"])
    mode = detect_fake_mode([each.meta.get("val") for each in node.all_input_nodes])
    with ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        stack.enter_context(mode or nullcontext())
        if mode is not None and mode.shape_env is not None:
            stack.enter_context(enable_python_dispatcher())
        return node.target(*args, **kwargs)


def have_same_dim_order(one: Any, other: Any) -> bool:
    """Whether each element of two values of one size has the same place in memory."""
    if isinstance(one, tuple | list):
        return all(map(have_same_dim_order, one, other))
    if not isinstance(one, torch.Tensor):
        return True
    sizes = zip(one.shape, one.stride(), other.stride(), strict=True)
    return all(_are_same(size, 1) or _are_same(mine, theirs) for size, mine, theirs in sizes)


def _are_same(one: Any, other: Any) -> bool:
    """As far as it is known without asking for sizes."""
    return statically_known_true(one == other)


def copied(node: Node, dim_order: list[int]) -> Node:
    """A copy of a value in that order, behind it."""
    with node.graph.inserting_after(node):
        made = node.graph.call_function(_COPY, (node,), {"dim_order": dim_order})
    made.meta = dict(node.meta)
    made.meta["val"] = value_of(made)
    return made


class ChannelsLastPass:
    """`wants`: calls whose images are to have their channels last, which alone a backend takes. Sums and functions of
    their results follow; what wants the order that the model has, and whoever calls the program, gets that. Stored
    values are copied, not what is dequantized."""

    def __init__(self, wants: Callable[[Graph], set[Node]]) -> None:
        self._wants = wants

    def __call__(self, graph_module: GraphModule) -> PassResult:
        modules = [each for each in graph_module.modules() if isinstance(each, GraphModule)]
        changed = [each for each in modules if self._change(each.graph)]
        for each in changed:
            each.graph.eliminate_dead_code()
            each.graph.lint()
            each.recompile()
        return PassResult(graph_module, bool(changed))

    def _change(self, graph: Graph) -> bool:
        wanting = self._wants(graph)
        if wanting:
            _Sweep(graph, wanting).run()
        return bool(wanting)


class _Sweep:
    """Over one graph, in the order of its calls."""

    def __init__(self, graph: Graph, wanting: set[Node]) -> None:
        self._graph, self._wanting = graph, wanting
        self._before = {node: node.meta.get("val") for node in graph.nodes}
        self._last: dict[Node, Node] = {}  # a value -> the same with channels last
        self._back: dict[Node, Node] = {}  # and as the model has it
        self._moved: set[Node] = set()  # values that no longer lie as the model has them

    def run(self) -> None:
        for node in list(self._graph.nodes):
            if node.op == "output":
                node.args = map_arg(node.args, self._as_before)
            elif node.op == "call_function":
                self._visit(node)

    def _visit(self, node: Node) -> None:
        moved = any(each in self._moved for each in node.all_input_nodes)
        if node in self._wanting:  # what the backend makes of it lies as its image does
            node.args = (self._with_channels_last(node.args[0]), *node.args[1:])
            node.meta["val"] = tree_map_only(torch.Tensor, _channels_last, value_of(node))
        elif moved and _follows(node):
            node.args = map_arg(node.args, self._with_channels_last)
            node.meta["val"] = value_of(node)
        else:
            node.args = map_arg(node.args, self._as_before)
            return
        if not have_same_dim_order(node.meta["val"], self._before[node]):
            self._moved.add(node)

    def _with_channels_last(self, node: Node) -> Node:
        value = node.meta["val"]
        if not _is_image(node) or have_same_dim_order(value, _channels_last(value)):
            return node
        return self._version(node, self._last, self._with_channels_last, _NHWC)

    def _as_before(self, node: Node) -> Node:
        if node not in self._moved or isinstance(node.meta["val"], tuple | list):
            return node
        order = list(self._before[node].dim_order())
        return self._version(node, self._back, self._as_before, order)

    def _version(
        self, node: Node, known: dict[Node, Node], of: Callable[[Node], Node], order: list[int]
    ) -> Node:
        if node not in known:
            known[node] = (
                self._dequantized(node, of) if is_dequantize(node) else copied(node, order)
            )
        return known[node]

    def _dequantized(self, node: Node, of: Callable[[Node], Node]) -> Node:
        """The same of what is stored in another order."""
        with self._graph.inserting_after(node):
            made = self._graph.node_copy(node, lambda each: each)
        made.replace_input_with(node.args[0], of(node.args[0]))
        made.meta["val"] = value_of(made)
        return made


def _is_image(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dim() == 4


def _channels_last(image: torch.Tensor) -> torch.Tensor:
    return image.contiguous(memory_format=torch.channels_last)


def _follows(node: Node) -> bool:
    """Whether it computes as well on images with channels last."""
    op, name = called_op(node), op_name(node)
    if is_quantize(node) or is_dequantize(node) or node.target is operator.getitem:
        return True
    if name in _FOLLOWING:
        return not node.kwargs.get("dim_order")
    return op is not None and torch.Tag.pointwise in op.tags
