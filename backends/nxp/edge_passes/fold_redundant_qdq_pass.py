# SPDX-License-Identifier: BSD-3-Clause
# compat
"""before: %d = dequantize(%x, 0.1, 3); %q = quantize(%d, 0.1, 3); f(%q)       after: f(%x)"""

from __future__ import annotations

from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.nxp.edge_passes.neutron_edge_pass import NeutronEdgePass
from executorch.exir.backend.lowering.quantized_steps import fold_redundant_pairs


class FoldRedundantDequantizeQuantizePass(NeutronEdgePass):
    def run(self, graph_module: GraphModule) -> PassResult:
        return PassResult(graph_module, fold_redundant_pairs(graph_module))
