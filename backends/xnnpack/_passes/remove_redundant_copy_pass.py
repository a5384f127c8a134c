# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Copies to a layout and back go; so do copies that change nothing.

before: %a = to_dim_order(%x, channels last); %b = to_dim_order(%a, contiguous)     after: %x
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.transforms.edits import finished, replace
from executorch.backends.xnnpack._passes.xnnpack_pass import XNNPACKPass
from executorch.exir.graph_facts import op_name

_COPIES = (
    "dim_order_ops._to_dim_order_copy.default",
    "dim_order_ops._clone_dim_order.default",
    "aten._to_copy.default",
    "aten.clone.default",
)


def _is_same(first: torch.Tensor, second: torch.Tensor) -> bool:
    layout = first.dim() == 0 or first.dim_order() == second.dim_order()
    return first.dtype == second.dtype and first.shape == second.shape and layout


class RemoveRedundantCopyPass(XNNPACKPass):
    """A copy through another dtype stays: it rounds."""

    def call(self, graph_module: GraphModule) -> PassResult:
        modified = False
        for node in list(graph_module.graph.nodes):
            if op_name(node) not in _COPIES:
                continue
            source = self._first(node)
            if source is not None:
                replace(node, source)
                modified = True
        return finished(graph_module, modified)

    @staticmethod
    def _first(node: Node) -> Node | None:
        """The earliest of the values that `node` gives back."""
        found, at, value = None, node, node.meta["val"]
        while op_name(at) in _COPIES and at.args[0].meta["val"].dtype == value.dtype:
            at = at.args[0]
            if _is_same(at.meta["val"], value):
                found = at
        return found
