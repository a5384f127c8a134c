# SPDX-License-Identifier: BSD-3-Clause
"""before: %d = dequantize(%x, 0.1, 3); %q = quantize(%d, 0.1, 3); f(%q)       after: f(%x)"""

from __future__ import annotations

from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.nxp.edge_passes.neutron_edge_pass import NeutronEdgePass
from executorch.exir.backend.lowering.quantized import quantizes_back


class FoldRedundantDequantizeQuantizePass(NeutronEdgePass):
    def run(self, graph_module: GraphModule) -> PassResult:
        return PassResult(graph_module, fold_redundant_pairs(graph_module))


def fold_redundant_pairs(graph_module: GraphModule) -> bool:
    """But for outputs, whose names the program has. Whether there was one."""
    outputs = set(graph_module.graph.output_node().all_input_nodes)
    nodes = list(graph_module.graph.nodes)
    found = [node for node in nodes if node not in outputs and quantizes_back(node)]
    for quantize in found:
        dequantize = quantize.args[0]
        quantize.replace_all_uses_with(dequantize.args[0])
        quantize.graph.erase_node(quantize)
        if not dequantize.users:
            dequantize.graph.erase_node(dequantize)
    graph_module.recompile()
    return bool(found)
