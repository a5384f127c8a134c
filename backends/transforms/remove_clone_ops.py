# SPDX-License-Identifier: BSD-3-Clause
"""Copies that keep the layout go, and what quantizes a dequantized value by the same parameters.

before: %c = clone(%x); %y = relu(%c)                               after: %y = relu(%x)
before: %d = dequantize(%q, s, z); %e = quantize(%d, s, z)          after: %q
"""

from __future__ import annotations

from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.transforms.edits import finished, replace
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.graph_facts import op_name
from executorch.exir.pass_base import ExportPass


def _keeps_layout(node: Node) -> bool:
    """True for calls of graphs without values, too: nothing says that they change it."""
    before, after = node.args[0].meta.get("val"), node.meta.get("val")
    if before is None or after is None:
        return True
    if before.dtype != after.dtype or before.dim() != after.dim():
        return False
    return before.dim() == 0 or tuple(before.dim_order()) == tuple(after.dim_order())


class RemoveCloneOpsTransform(ExportPass):
    """`preserve_input_output_copies`: a copy from an input to an output stays."""

    clone_ops = {
        exir_ops.edge.aten.clone.default,
        exir_ops.edge.dim_order_ops._clone_dim_order.default,
    }

    def __init__(
        self,
        preserve_input_output_copies: bool = False,
        eliminate_quant_dequant_pairs: bool = True,
    ) -> None:
        super().__init__()
        self._preserve = preserve_input_output_copies
        self._pairs = eliminate_quant_dequant_pairs

    def call(self, graph_module: GraphModule) -> PassResult:
        modified = False
        for node in list(graph_module.graph.nodes):
            source = self._what_it_copies(node)
            if source is not None:
                replace(node, source)
                modified = True
        return finished(graph_module, modified)

    def _is_non_identity_clone(self, node: Node) -> bool:
        return not _keeps_layout(node)

    def _what_it_copies(self, node: Node) -> Node | None:
        if node.target in self.clone_ops:
            source = node.args[0]
            at_both_ends = source.op == "placeholder" and any(u.op == "output" for u in node.users)
            stays = (self._preserve and at_both_ends) or self._is_non_identity_clone(node)
            return None if stays else source
        name = op_name(node).partition(".")[2]
        if not self._pairs or not name.startswith("quantize_"):
            return None
        source = node.args[0]
        is_pair = op_name(source).partition(".")[2] == f"de{name}"
        same = is_pair and source.args[1:] == node.args[1:] and source.kwargs == node.kwargs
        return source.args[0] if same else None
