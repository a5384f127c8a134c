# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Limits of results become a note on the operator that computes them.

before: %c = convolution(...); %r = relu(%c)     after: %c = convolution(...), meta[XNN_FUSED_ACTIVATION] = (0, inf)
"""

from __future__ import annotations

from typing import Any

from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.transforms.edits import finished, replace
from executorch.backends.xnnpack._passes.xnnpack_pass import XNNPACKPass
from executorch.backends.xnnpack.aot.steps import limits_of
from executorch.backends.xnnpack.serialization.xnnpack_graph_schema import OutputMinMax
from executorch.exir.dialects._ops import ops as exir_ops

_aten = exir_ops.edge.aten


class FuseActivationPass(XNNPACKPass):
    FUSED_ACTIVATION_TAG = "XNN_FUSED_ACTIVATION"
    FUSEABLE_OPS = [
        _aten.convolution.default, _aten.add.Tensor, _aten.sub.Tensor, _aten.mul.Tensor,
        _aten.div.Tensor, _aten.linear.default, _aten.addmm.default,
    ]  # fmt: skip
    FUSEABLE_ACTIVATIONS = [_aten.relu.default, _aten.hardtanh.default, _aten.clamp.default]

    @staticmethod
    def get_fused_activation(node: Node) -> Any:
        """The OutputMinMax that was noted on a node; None when there is none."""
        return node.meta.get(FuseActivationPass.FUSED_ACTIVATION_TAG)

    def get_output_min_max_from_activation(self, activation_node: Node) -> Any:
        low, high = limits_of(activation_node)
        return OutputMinMax(output_min=low, output_max=high)

    def call(self, graph_module: GraphModule) -> PassResult:
        modified = False
        for node in list(graph_module.graph.nodes):
            if node.target not in self.FUSEABLE_ACTIVATIONS or limits_of(node) is None:
                continue
            source = node.args[0]
            alone = source.target in self.FUSEABLE_OPS and len(source.users) == 1
            if alone and self.get_fused_activation(source) is None:
                source.meta[self.FUSED_ACTIVATION_TAG] = self.get_output_min_max_from_activation(
                    node
                )
                replace(node, source)
                modified = True
        return finished(graph_module, modified)
