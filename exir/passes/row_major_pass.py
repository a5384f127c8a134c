# SPDX-License-Identifier: BSD-3-Clause
"""What has kernels for row-major order alone reads and gives it, also amid channels last.

before: %y = native_group_norm(%x, ...)[0], both channels last
after:  %c = _to_dim_order_copy(%x, dim_order=[0, 1, 2, 3]); %r = native_group_norm(%c, ...)[0]
        %y = _to_dim_order_copy(%r, dim_order=[0, 2, 3, 1])

Kernels of upstream refuse another order of more operators: files are to run there, too.
"""

from __future__ import annotations

import operator

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.graph_facts import called_op
from executorch.exir.sym_util import surely_equal
from executorch.exir.tensor import dim_order_of

_aten = torch.ops.aten
# Of their first operand and their first result.
_ROW_MAJOR_ONLY = frozenset(
    {_aten.linear.default, _aten.native_group_norm.default, _aten.native_layer_norm.default}
)
# What upstream's runtime runs on row-major tensors alone (error 0x12 otherwise), and where copies are made for it:
# reductions, whose results are small, pools, and expand. Copies around the rest (cat, slices, broadcasts, softmax,
# batch norms) would cost more than they do, and upstream's own files with them do not run there.
ROW_MAJOR_UPSTREAM = frozenset(
    {
        _aten._adaptive_avg_pool2d.default,
        _aten.amax.default,
        _aten.amin.default,
        _aten.any.default,
        _aten.any.dim,
        _aten.any.dims,
        _aten.argmax.default,
        _aten.argmin.default,
        _aten.avg_pool2d.default,
        _aten.expand_copy.default,
        _aten.max.default,
        _aten.max.dim,
        _aten.mean.default,
        _aten.mean.dim,
        _aten.min.default,
        _aten.min.dim,
        _aten.sum.default,
        _aten.sum.dim_IntList,
    }
)


def row_major_pass(graph_module: GraphModule, for_upstream: bool = True) -> PassResult:
    """Works in place. Values that others read, delegates among them, keep their order. `for_upstream`: also where our
    kernels take any order, and upstream's do not."""
    wanted = _ROW_MAJOR_ONLY | ROW_MAJOR_UPSTREAM if for_upstream else _ROW_MAJOR_ONLY
    modified = False
    for module in graph_module.modules():
        if isinstance(module, GraphModule):
            for node in list(module.graph.nodes):
                if called_op(node) in wanted:
                    modified |= _read_plain(node)
                    modified |= _give_plain(node)
    return PassResult(graph_module, modified)


def _read_plain(node: Node) -> bool:
    source = node.args[0]
    value = source.meta["val"]
    if _is_row_major(value):
        return False
    with node.graph.inserting_before(node):
        node.args = (_copy(source, value.contiguous()), *node.args[1:])
    return True


def _give_plain(node: Node) -> bool:
    results = node.meta["val"]
    is_tuple = not isinstance(results, torch.Tensor)
    first = results[0] if is_tuple else results
    if _is_row_major(first):
        return False
    plain = first.contiguous()
    node.meta["val"] = (plain, *results[1:]) if is_tuple else plain
    for value in [user for user in node.users if _is_first(user)] if is_tuple else [node]:
        value.meta["val"] = plain
        with node.graph.inserting_after(value):
            copy = _copy(value, first)
        value.replace_all_uses_with(copy, delete_user_cb=lambda user, copy=copy: user is not copy)
    return True


def _is_first(user: Node) -> bool:
    return user.target is operator.getitem and user.args[1] == 0


def _is_row_major(value: torch.Tensor) -> bool:
    """Dimensions of one element may lie anywhere."""
    order = [dim for dim in dim_order_of(value) if not surely_equal(value.shape[dim], 1)]
    return order == sorted(order)


def _copy(source: Node, value: torch.Tensor) -> Node:
    """`source` as `value` lies."""
    op = exir_ops.edge.dim_order_ops._to_dim_order_copy.default
    order = list(dim_order_of(value))
    copy = source.graph.call_function(op, (source,), {"dim_order": order})
    copy.meta = {**source.meta, "val": value}
    copy.meta.pop("debug_handle", None)  # a call of its own
    return copy
