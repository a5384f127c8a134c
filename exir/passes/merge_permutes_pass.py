# SPDX-License-Identifier: BSD-3-Clause
"""Permutes of permutes are one, and none where they put dimensions back.

before: %y = permute_copy(%x, [0, 2, 1]); %z = permute_copy(%y, [0, 2, 1]); mul(%z, 2)      after: mul(%x, 2)
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.graph_facts import called_op

_PERMUTE = torch.ops.aten.permute_copy.default


def merge_permutes_pass(graph_module: GraphModule) -> PassResult:
    """Works in place. A permute that others read stays for them; outputs keep memory of their own."""
    modified = False
    for module in graph_module.modules():
        if isinstance(module, GraphModule):
            for node in module.graph.nodes:
                modified = _merge(node) or modified
    return PassResult(graph_module, modified)


def _merge(node: Node) -> bool:
    order = _order(node)
    inner = node.args[0] if order is not None else None
    inner_order = _order(inner) if inner is not None else None
    if order is None or inner is None or inner_order is None:
        return False
    merged = [inner_order[dim] for dim in order]
    if merged == sorted(merged) and all(user.op != "output" for user in node.users):
        node.replace_all_uses_with(inner.args[0])
    else:
        node.args = (inner.args[0], merged)
    for each in (node, inner):
        if not each.users:
            each.graph.erase_node(each)
    return True


def _order(node: Node) -> list[int] | None:
    if called_op(node) is not _PERMUTE:
        return None
    dims = node.args[1]
    return [dim % len(dims) for dim in dims]
