# SPDX-License-Identifier: BSD-3-Clause
"""The sum along a stack is the sum of what was stacked, also behind a multiplication by weights.

before: %s = cat([unsqueeze_copy(%a, 1), unsqueeze_copy(%b, 1)], 1); %y = sum(mul(%s, %w), [1])
after:  %y = add(mul(%a, select_copy(%w, 1, 0)), mul(%b, select_copy(%w, 1, 1)))

Branches that a network weighs and joins so (selective kernels, weighted feature pyramids) are neither copied together
nor read again, and need no layout that has one dimension more.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.dialects.edge._ops import edge_op_of
from executorch.exir.dim_order_utils import is_contiguous_dim_order
from executorch.exir.graph_facts import called_op, only_user

_ADD, _MUL, _CAT = torch.ops.aten.add.Tensor, torch.ops.aten.mul.Tensor, torch.ops.aten.cat.default
_SELECT, _SUM = torch.ops.aten.select_copy.int, torch.ops.aten.sum.dim_IntList
_UNSQUEEZE, _VIEW = torch.ops.aten.unsqueeze_copy.default, torch.ops.aten.view_copy.default
_MAX = 8  # values; of more, one pass over the stack is less work than an addition for each


def sum_stacks_pass(graph_module: GraphModule) -> PassResult:
    """Works in place, on sums of floats along one dimension. What nobody reads afterwards goes."""
    modified = False
    for module in graph_module.modules():
        if isinstance(module, GraphModule):
            changed = [_rewrite(node) for node in module.graph.nodes if called_op(node) is _SUM]
            if any(changed):
                module.graph.eliminate_dead_code()
                modified = True
    return PassResult(graph_module, modified)


def _rewrite(total: Node) -> bool:
    """`total` becomes the last addition, or the dimension that it keeps."""
    stacked, dims, *rest = total.args
    value, result = stacked.meta["val"], total.meta["val"]
    if not dims or len(dims) != 1 or value.dtype != result.dtype or not value.is_floating_point():
        return False
    if value.dim() == 0:  # torch counts a number's only value along dimension 0
        return False
    dim = dims[0] % value.dim()
    with total.graph.inserting_before(total):
        parts = _parts(stacked, dim) or _products(stacked, dim, total)
        if parts is None:
            return False
        *first, last = parts
        so_far = reduce(lambda a, b: _call(total, _ADD, a, b), first)
        if rest and rest[0]:
            so_far, last = _call(total, _ADD, so_far, last), dim
    total.target = edge_op_of(_UNSQUEEZE if rest and rest[0] else _ADD)
    total.args, total.kwargs = (so_far, last), {}
    return True


def _parts(stack: Node, dim: int) -> list[Node] | None:
    """What a stack along `dim` is made of: values that got the dimension, or a row of them to which a view gives it."""
    rank = stack.meta["val"].dim()
    joined = stack.args[0] if called_op(stack) is _VIEW else stack
    if called_op(joined) is not _CAT or _dim_of(joined, 1) != dim:
        return None
    values = joined.args[0]
    if joined is stack:
        added = all(called_op(v) is _UNSQUEEZE and v.args[1] % rank == dim for v in values)
        values = [v.args[0] for v in values] if added else []
    sizes = list(map(str, stack.meta["val"].shape))
    one = sizes[:dim] + sizes[dim + 1 :]
    fits = all(list(map(str, v.meta["val"].shape)) == one and _plain(v) for v in values)
    return list(values) if fits and sizes[dim] == str(len(values)) and _few(values) else None


def _products(product: Node, dim: int, total: Node) -> list[Node] | None:
    """Of a stack and a value that broadcasts, in either order, which only `total` reads."""
    if called_op(product) is not _MUL or only_user(product) is not total:
        return None
    place = dim - product.meta["val"].dim()  # from the end, as values broadcast
    operands = [each for each in product.args if isinstance(each, Node)]
    found = [_parts(each, _rank(each) + place) for each in operands]
    count = next((len(parts) for parts in found if parts), 0)
    if len(operands) != 2 or not count or not all(map(_plain, operands)):
        return None
    each_side = [
        parts or _selected(operand, place, count, total)
        for operand, parts in zip(operands, found, strict=True)
    ]
    return [_call(total, _MUL, a, b) for a, b in zip(*each_side, strict=True)]


def _selected(value: Node, place: int, count: int, total: Node) -> list[Node]:
    """`count` times what a value has at `place` from its end, which is one, or one each."""
    dim = _rank(value) + place
    if dim < 0:
        return [value] * count
    if value.meta["val"].shape[dim] == 1:
        return [_call(total, _SELECT, value, dim, 0)] * count
    return [_call(total, _SELECT, value, dim, index) for index in range(count)]


def _call(beside: Node, op: torch._ops.OpOverload, *args: Any) -> Node:
    node = beside.graph.call_function(edge_op_of(op), args)
    values = [arg.meta["val"] if isinstance(arg, Node) else arg for arg in args]
    node.meta = {**beside.meta, "val": op(*values)}
    return node


def _dim_of(cat: Node, position: int) -> int:
    return (cat.args[position] if len(cat.args) > position else 0) % _rank(cat)


def _rank(node: Node) -> int:
    return node.meta["val"].dim()


def _plain(node: Node) -> bool:
    return is_contiguous_dim_order(node.meta["val"])


def _few(values: list[Node]) -> bool:
    return 2 <= len(values) <= _MAX
