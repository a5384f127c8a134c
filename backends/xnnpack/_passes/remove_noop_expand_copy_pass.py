# SPDX-License-Identifier: BSD-3-Clause
# compat
"""before: expand_copy(%x of [2, 3], [2, -1])     after: %x"""

from __future__ import annotations

from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.transforms.edits import finished, replace, shape_of
from executorch.exir.graph_facts import op_name
from executorch.exir.pass_base import ExportPass


class RemoveNoopExpandCopyPass(ExportPass):
    """Dynamic sizes are equal when they are the same expression."""

    def call(self, graph_module: GraphModule) -> PassResult:
        modified = False
        for node in list(graph_module.graph.nodes):
            if op_name(node) != "aten.expand_copy.default":
                continue
            before, after = (list(map(str, shape_of(each))) for each in (node.args[0], node))
            if before == after:
                replace(node, node.args[0])
                modified = True
        return finished(graph_module, modified)
