# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Tensors without elements are not concatenated.

before: cat([%a, %empty, %b], 0)                 after: cat([%a, %b], 0)
before: cat([%empty, %empty], 0)                 after: full([0, 3], 0)
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.dialects.edge._ops import edge_op_of
from executorch.exir.graph_facts import without_dialect
from executorch.exir.pass_base import ExportPass
from executorch.exir.passes.dead_code_elimination_pass import dead_code_elimination_pass


class PruneEmptyTensorsPass(ExportPass):
    """Works in place. A cat of nothing but empty tensors becomes an empty tensor."""

    def remove_empty_tensors_from_cat(self, graph_module: GraphModule, cat_node: Node) -> None:
        tensors = cat_node.args[0]
        full = [
            n for n in tensors if not any(size == 0 for size in map(_known, n.meta["val"].shape))
        ]
        if full and len(full) < len(tensors):
            cat_node.args = (full, *cat_node.args[1:])
        if not full:
            value = cat_node.meta["val"]
            full_op = edge_op_of(torch.ops.aten.full.default)
            with graph_module.graph.inserting_before(cat_node):
                empty = graph_module.graph.call_function(
                    full_op, (tuple(value.shape), 0), {"dtype": value.dtype}
                )
            empty.meta = dict(cat_node.meta)
            cat_node.replace_all_uses_with(empty)

    def call(self, graph_module: GraphModule) -> PassResult:
        for node in graph_module.graph.nodes:
            if without_dialect(node.target) is torch.ops.aten.cat.default:
                self.remove_empty_tensors_from_cat(graph_module, node)
        dead_code_elimination_pass(graph_module)
        graph_module.recompile()
        return PassResult(graph_module, True)


def _known(size: int | torch.SymInt) -> int:
    return size if isinstance(size, int) else -1
