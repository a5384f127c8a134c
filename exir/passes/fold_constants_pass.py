# SPDX-License-Identifier: BSD-3-Clause
"""What depends on constants alone is computed at export, where that does not make the file much larger.

before: %m = mean(%w, [1, 2, 3]); %s = sub(%w, %m); %y = convolution(%x, %s)
after:  %y = convolution(%x, %folded)

Weights that a module makes of its parameters at every call (standardized, normalized, permuted), tables that it gathers
positions from, and masks of numbers alone are constants then, and backends take them as such. `constant_prop_pass`
folds everything, whatever it costs.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import torch
from torch.export import ExportedProgram
from torch.fx import Node
from torch.fx.node import map_arg
from torch.utils._pytree import tree_leaves

from executorch.exir.graph_facts import called_op, is_pure, torch_op
from executorch.exir.passes.constant_prop_pass import (
    get_constant_placeholder_dict,
    put_constants,
)

# How many bytes a result may have beyond the constants that it is made of, and all results beyond those that go: the
# larger of a number and a part of all constants.
_SMALL = 1 << 16
_ON_THE_WAY = 1 << 24  # what is computed at export and not kept
_PART_FOR_ONE = 1 / 512
_PART_FOR_ALL = 1 / 32
# Operators of quantization stand where backends look for them.
_NAMESPACES = frozenset({"aten", "dim_order_ops", "quant_fusion"})


@dataclass
class _Group:
    """Calls that read the same constants, or each other; in their order."""

    nodes: list[Node] = field(default_factory=list)

    def calls(self) -> list[Node]:
        return [node for node in self.nodes if node.op == "call_function"]

    def results(self) -> list[Node]:
        inside = set(self.nodes)
        return [call for call in self.calls() if any(user not in inside for user in call.users)]

    def added_bytes(self) -> int:
        inside = set(self.nodes)
        freed = [n for n in self.nodes if n.op == "placeholder" and inside.issuperset(n.users)]
        return _bytes(self.results()) - _bytes(freed)


def fold_constants_pass(
    program: ExportedProgram, stays: Callable[[Node], bool] | None = None
) -> None:
    """Works in place. Programs that compute gradients stay as they are: their constants change. `stays`: calls that are
    not to be folded."""
    if program.graph_signature.backward_signature is not None:
        return
    values = get_constant_placeholder_dict(program)
    constants = list(values)
    for_one, for_all = (max(_SMALL, _bytes(constants) * p) for p in (_PART_FOR_ONE, _PART_FOR_ALL))
    groups = [
        (each.added_bytes(), each)
        for each in _groups(_foldable(program, constants, for_one, stays))
    ]
    folded: dict[Node, torch.Tensor] = {}
    for added, group in sorted(groups, key=lambda pair: pair[0]):
        for_all -= max(added, 0)
        if for_all < 0:
            break
        with torch.no_grad():
            for call in group.calls():
                args, kwargs = map_arg((call.args, call.kwargs), values.__getitem__)
                values[call] = call.target(*args, **kwargs)
        folded |= {call: _as_planned(values[call], call) for call in group.results()}
    if folded:
        put_constants(program, folded)


def is_transposed_weight(node: Node) -> bool:
    """The matrix of a linear layer as `addmm` reads it."""
    is_transpose = called_op(node) is torch.ops.aten.permute_copy.default
    return is_transpose and list(node.args[1]) == [1, 0] and node.args[0].op == "placeholder"


def _foldable(
    program: ExportedProgram,
    constants: list[Node],
    most_added: float,
    stays: Callable[[Node], bool] | None,
) -> dict[Node, frozenset[Node]]:
    """Constants, and calls on them alone; each with the constants that it is made of. What others read is not much
    larger than those; what only calls on constants read may be: positions on their way through a matrix."""
    origins = {node: frozenset({node}) for node in constants}
    for node in program.graph.nodes:
        if not _is_pure(node) or not all(each in origins for each in node.all_input_nodes):
            continue
        if stays is not None and stays(node):
            continue
        mine = frozenset().union(*(origins[each] for each in node.all_input_nodes))
        if _bytes([node]) <= _bytes(mine) + max(most_added, _ON_THE_WAY):
            origins[node] = mine
    while large := [
        node
        for node, mine in origins.items()
        if node.op == "call_function"
        and _bytes([node]) > _bytes(mine) + most_added
        and any(user not in origins for user in node.users)
    ]:
        while large:
            node = large.pop()
            if origins.pop(node, None) is not None:
                large += [user for user in node.users if user in origins]
    return origins


def _groups(foldable: dict[Node, frozenset[Node]]) -> list[_Group]:
    """Connected parts that have calls. What one operator of core ATen makes of nothing is as well made when it runs; of
    others (windows of sound) not every runtime has a kernel."""
    first = {node: node for node in foldable}

    def root(node: Node) -> Node:
        while first[node] is not node:
            node = first[node]
        return node

    for node in foldable:
        if node.op == "call_function":
            for each in node.all_input_nodes:
                first[root(each)] = root(node)
    groups: dict[Node, _Group] = {}
    for node in foldable:
        groups.setdefault(root(node), _Group()).nodes.append(node)
    return [group for group in groups.values() if group.calls() and not _is_made_at_once(group)]


def _is_made_at_once(group: _Group) -> bool:
    op = torch_op(group.nodes[0].target)
    return len(group.nodes) == 1 and op is not None and torch.Tag.core in op.tags


def _is_pure(node: Node) -> bool:
    """A call of static shape whose result is the same every time."""
    if node.op != "call_function":
        return False
    if node.target is operator.getitem:
        return isinstance(node.meta.get("val"), torch.Tensor)
    op = torch_op(node.target)
    sizes = [size for tensor in _tensors(node) for size in tensor.shape]
    return (
        op is not None
        and op.namespace in _NAMESPACES
        and is_pure(op)
        and bool(_tensors(node))
        and all(isinstance(size, int) for size in sizes)
    )


def _as_planned(value: torch.Tensor, node: Node) -> torch.Tensor:
    """With the strides that the program has it with."""
    planned = node.meta["val"]
    if value.stride() == planned.stride():
        return value
    return torch.empty_strided(planned.shape, planned.stride(), dtype=value.dtype).copy_(value)


def _tensors(node: Node) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(node.meta.get("val")) if isinstance(leaf, torch.Tensor)]


def _bytes(nodes: Iterable[Node]) -> int:
    return sum(math.prod(t.shape) * t.element_size() for node in nodes for t in _tensors(node))
