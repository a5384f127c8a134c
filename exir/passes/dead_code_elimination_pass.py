# SPDX-License-Identifier: BSD-3-Clause
"""Calls whose results nothing uses go.

before: %a = mul(%x, 2); return (%x,)            after: return (%x,)
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.graph_facts import torch_op


def dead_code_elimination_pass(graph_module: GraphModule) -> PassResult:
    """Operators that write to an argument, and delegates, stay."""
    modified = False
    for module in graph_module.modules():
        if not isinstance(module, GraphModule):
            continue
        for node in reversed(module.graph.nodes):
            if not node.users and (node.op == "get_attr" or _is_pure(node.op, node.target)):
                module.graph.erase_node(node)
                modified = True
    return PassResult(graph_module, modified)


def _is_pure(kind: str, target: Any) -> bool:
    if kind != "call_function" or isinstance(target, torch._ops.HigherOrderOperator):
        return False
    op = torch_op(target)
    return op is None or not op._schema.is_mutable
