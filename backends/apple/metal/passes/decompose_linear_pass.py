# SPDX-License-Identifier: BSD-3-Clause
"""Linear layers with a bias on matrices are batched matmuls, which Metal's kernel of addmm is not.

before: linear(%x, %w, %b)     after: squeeze(matmul(unsqueeze(%x, 0), permute(%w)) + %b, 0)
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassBase, PassResult

from executorch.exir.dialects.edge._ops import EdgeOpOverload, edge_op_of
from executorch.exir.graph_facts import called_op

_ATEN = torch.ops.aten


class DecomposeLinearPass(PassBase):
    def call(self, graph_module: GraphModule) -> PassResult:
        found = [node for node in graph_module.graph.nodes if _is_matrix_with_bias(node)]
        for node in found:
            _decompose(node)
        if found:
            graph_module.recompile()
        return PassResult(graph_module, bool(found))


def _is_matrix_with_bias(node: Node) -> bool:
    if called_op(node) is not _ATEN.linear.default:
        return False
    return node.args[0].meta["val"].dim() == 2 and len(node.args) > 2 and node.args[2] is not None


def _decompose(node: Node) -> None:
    """In the dialect of the call."""
    is_edge = isinstance(node.target, EdgeOpOverload)
    x, weight, bias = node.args

    def call(edge: torch._ops.OpOverload, plain: torch._ops.OpOverload, *args: object) -> Node:
        made = node.graph.call_function(edge_op_of(edge) if is_edge else plain, args)
        values = [each.meta["val"] if isinstance(each, Node) else each for each in args]
        made.meta = {**node.meta, "val": plain(*values)}
        return made

    with node.graph.inserting_before(node):
        batch = call(_ATEN.unsqueeze_copy.default, _ATEN.unsqueeze.default, x, 0)
        turned = call(_ATEN.permute_copy.default, _ATEN.permute.default, weight, [1, 0])
        product = call(_ATEN.matmul.default, _ATEN.matmul.default, batch, turned)
        total = call(_ATEN.add.Tensor, _ATEN.add.Tensor, product, bias)
        result = call(_ATEN.squeeze_copy.dim, _ATEN.squeeze.dim, total, 0)
    node.replace_all_uses_with(result)
    node.graph.erase_node(node)
