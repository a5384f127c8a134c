# SPDX-License-Identifier: BSD-3-Clause
"""Values that are expanded for an operator that broadcasts are read as they are.

before: %n = expand_copy(%norm, [8, 64, 32]); %y = div(%x, %n), %x [8, 64, 32], %norm [8, 64, 1]
after:  %y = div(%x, %norm)
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.graph_facts import called_op

_EXPAND = torch.ops.aten.expand_copy.default


def drop_expands_pass(graph_module: GraphModule) -> PassResult:
    """Works in place. An expanded value that others read, too, stays for them."""
    modified = False
    for module in graph_module.modules():
        if isinstance(module, GraphModule):
            for node in list(module.graph.nodes):
                if called_op(node) is _EXPAND:
                    modified = _drop(node) or modified
    return PassResult(graph_module, modified)


def _drop(expand: Node) -> bool:
    source = expand.args[0]
    readers = [user for user in expand.users if _broadcasts(user, expand, source)]
    for user in readers:
        user.replace_input_with(expand, source)
    if not expand.users:
        expand.graph.erase_node(expand)
    return bool(readers)


def _broadcasts(user: Node, expand: Node, source: Node) -> bool:
    """Whether `user` computes the same of `source`: a tensor without dimensions has less say in the dtype, and others
    must give the sizes of the result."""
    op = called_op(user)
    if op is None or torch.Tag.pointwise not in op.tags:
        return False
    operands = [each.meta["val"] for each in user.all_input_nodes if each is not expand]
    value = source.meta["val"]
    same_dtype = value.dim() > 0 or all(each.dtype == value.dtype for each in operands)
    rank = user.meta["val"].dim()
    if max(each.dim() for each in [*operands, value]) != rank:
        return False  # dimensions of 1 ahead, which nobody else gives
    sizes = [1] * rank
    for each in [*operands, value]:
        for place, size in zip(range(-each.dim(), 0), each.shape, strict=True):
            sizes[place] = size if str(size) != "1" else sizes[place]
    return same_dtype and list(map(str, sizes)) == [str(size) for size in user.meta["val"].shape]
