# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Concatenations of more tensors than XNNPACK's node takes become several.

before: cat([a, b, c, d, e, f, g], dim)     after: cat([cat([a, b, c, d, e], dim), f, g], dim)
"""

from __future__ import annotations

from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.transforms.edits import call_before, finished
from executorch.exir.graph_facts import op_name
from executorch.exir.pass_base import ExportPass

MAX = 5


class DecomposeConcatenate(ExportPass):
    def call(self, graph_module: GraphModule) -> PassResult:
        modified = False
        for node in list(graph_module.graph.nodes):
            if op_name(node) != "aten.cat.default":
                continue
            tensors = list(node.args[0])
            while len(tensors) > MAX:
                first = call_before(
                    node, node.target, (tensors[:MAX], *node.args[1:]), dict(node.kwargs)
                )
                tensors = [first, *tensors[MAX:]]
                modified = True
            node.args = (tensors, *node.args[1:])
        return finished(graph_module, modified)
