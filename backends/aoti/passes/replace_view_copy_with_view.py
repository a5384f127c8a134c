# SPDX-License-Identifier: BSD-3-Clause
"""Slices and selects that copy become views, which a compiler that knows strides reads through.

before: slice_copy.Tensor(%x, 0, 1, 3)      after: slice.Tensor(%x, 0, 1, 3)
Not where a user writes to the result, or is a view itself: its base would be another memory, or one with gaps.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from executorch.exir.dialects.edge._ops import EdgeOpOverload, edge_op_of
from executorch.exir.graph_facts import called_op

_ATEN = torch.ops.aten
_VIEWS = {
    _ATEN.slice_copy.Tensor: _ATEN.slice.Tensor,
    _ATEN.select_copy.int: _ATEN.select.int,
}


# Of memory without gaps alone.
_DENSE = (_ATEN.view_copy.default, _ATEN.as_strided_copy.default)


class ReplaceViewCopyWithViewPass(PassBase):
    def call(self, graph_module: GraphModule) -> PassResult:
        is_changed = False
        for node in graph_module.graph.nodes:
            view = _VIEWS.get(called_op(node))
            if view is not None and not any(map(_needs_copy, node.users)):
                is_edge = isinstance(node.target, EdgeOpOverload)
                node.target = edge_op_of(view) if is_edge else view
                is_changed = True
        if is_changed:
            graph_module.recompile()
        return PassResult(graph_module, is_changed)


def _needs_copy(user: Node) -> bool:
    if user.op == "call_method":
        return True
    op = called_op(user)
    return op is not None and (op in _DENSE or op._schema.is_mutable or op.is_view)
