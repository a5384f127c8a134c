# SPDX-License-Identifier: BSD-3-Clause
"""Chains of views become one, also through elementwise operators; a view that changes nothing goes.

before: %a = view_copy(%x, [6]); %b = relu(%a); %c = view_copy(%b, [2, 3])
after:  %b = relu(%x); %c = view_copy(%b, [2, 3])
"""

from __future__ import annotations

from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.transforms.edits import compute_value, finished, replace, shape_of
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.dialects.edge._ops import EdgeOpOverload
from executorch.exir.pass_base import ExportPass

_aten = exir_ops.edge.aten


class FuseViewCopyTransform(ExportPass):
    VIEW_OP: EdgeOpOverload = _aten.view_copy.default
    UNARY_ELEMENTWISE_OPS: list[EdgeOpOverload] = [
        _aten.alias_copy.default, _aten.clone.default, _aten.abs.default, _aten.ceil.default,
        _aten.clamp.default, _aten.cos.default, _aten.erf.default, _aten.exp.default,
        _aten.floor.default, _aten.gelu.default, _aten.hardtanh.default, _aten.leaky_relu.default,
        _aten.log.default, _aten.neg.default, _aten.reciprocal.default, _aten.relu.default,
        _aten.rsqrt.default, _aten.sigmoid.default, _aten.sin.default, _aten.sqrt.default,
        _aten.tanh.default,
    ]  # fmt: skip

    def call(self, graph_module: GraphModule) -> PassResult:
        modified = False
        for node in list(graph_module.graph.nodes):
            if node.target == self.VIEW_OP:
                modified |= self._join(node)
        for node in list(graph_module.graph.nodes):
            if node.target == self.VIEW_OP and shape_of(node) == shape_of(node.args[0]):
                replace(node, node.args[0])
                modified = True
        return finished(graph_module, modified)

    def _join(self, view: Node) -> bool:
        """Lets the view read what an earlier view reads, if only elementwise operators lie between."""
        between: list[Node] = []
        source = view.args[0]
        while source.target in self.UNARY_ELEMENTWISE_OPS and len(source.users) == 1:
            between.append(source)
            source = source.args[0]
        if source.target != self.VIEW_OP or (between and len(source.users) != 1):
            return False
        if not between:
            view.args = (source.args[0], *view.args[1:])
            return True
        between[-1].args = (source.args[0], *between[-1].args[1:])
        for node in reversed(between):
            compute_value(node)
        return True
