# SPDX-License-Identifier: BSD-3-Clause
"""Operators of two results of which one is used become operators of one.

before: %m = max_pool2d_with_indices(%x, ...); %v = getitem(%m, 0)     after: %v = max_pool2d(%x, ...)
before: %m = max(%x, dim); %v = getitem(%m, 0)                         after: %v = amax(%x, dim)
"""

from __future__ import annotations

import operator

import torch
from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.transforms.edits import call_before, finished, in_dialect_of, replace
from executorch.exir.graph_facts import op_name
from executorch.exir.pass_base import ExportPass

_POOL, _MAX = "aten.max_pool2d_with_indices.default", "aten.max.dim"


class RemoveGetItemPass(ExportPass):
    """AssertionError when a pooling's indices are used; a maximum of which both results are used stays."""

    def call(self, graph_module: GraphModule) -> PassResult:
        for node in list(graph_module.graph.nodes):
            name = op_name(node)
            if name not in (_POOL, _MAX):
                continue
            users = list(node.users)
            if name == _MAX and (len(users) != 1 or users[0].args[1] != 0):
                continue
            for user in users:
                assert user.target is operator.getitem and user.args[1] == 0, (
                    f"indices of {node.name} are used by {user.name}; expected its values alone"
                )
            if name == _POOL:
                made = call_before(
                    node,
                    in_dialect_of(node, torch.ops.aten.max_pool2d.default),
                    node.args,
                    dict(node.kwargs),
                )
            else:
                args = (node.args[0], [node.args[1]], *node.args[2:])
                made = call_before(
                    node, in_dialect_of(node, torch.ops.aten.amax.default), args, dict(node.kwargs)
                )
            for user in users:
                replace(user, made)
        finished(graph_module, True)
        return PassResult(graph_module, True)
