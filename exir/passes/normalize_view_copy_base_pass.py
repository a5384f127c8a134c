# SPDX-License-Identifier: BSD-3-Clause
# compat
"""A view of a view is a view of the first tensor.

before: %a = view_copy(%x, s); %b = view_copy(%a, t)     after: %b = view_copy(%x, t)
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from executorch.exir.graph_facts import without_dialect

_VIEW = torch.ops.aten.view_copy.default


class NormalizeViewCopyBasePass(PassBase):
    """Leaves the views in between, which dead code elimination removes when nobody reads them."""

    def call(self, graph_module: GraphModule) -> PassResult:
        modified = False
        for node in _views(graph_module):
            base = node.args[0]
            if _is_view(base):
                node.replace_input_with(base, base.args[0])  # already a view of no view
                modified = True
        if modified:
            graph_module.recompile()
        return PassResult(graph_module, modified)

    def ensures(self, graph_module: GraphModule) -> None:
        for node in _views(graph_module):
            if _is_view(node.args[0]):
                raise ValueError(f"{node.name} is still a view of the view {node.args[0].name}")


def _views(graph_module: GraphModule) -> list[Node]:
    modules = [m for m in graph_module.modules() if isinstance(m, GraphModule)]
    return [node for module in modules for node in module.graph.nodes if _is_view(node)]


def _is_view(value: Any) -> bool:
    if not isinstance(value, Node) or value.op != "call_function":
        return False
    return without_dialect(value.target) is _VIEW
