# SPDX-License-Identifier: BSD-3-Clause
# compat
"""`meta["custom"]` of data goes on to what quantizes and dequantizes it.

before: %w custom={...}; %q = quantize(%w); %d = dequantize(%q)     after: all three have it
"""

from __future__ import annotations

from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.xnnpack._passes.xnnpack_pass import XNNPACKPass
from executorch.backends.xnnpack.utils.quant_utils import is_dequant, is_quant


class PropagateCustomMetaPass(XNNPACKPass):
    def call(self, graph_module: GraphModule) -> PassResult:
        modified = False
        for node in graph_module.graph.nodes:
            if node.op != "call_function" or not (is_quant(node) or is_dequant(node)):
                continue
            custom = node.args[0].meta.get("custom")
            if custom is not None and node.meta.get("custom") != custom:
                node.meta["custom"] = custom
                modified = True
        return PassResult(graph_module, modified)
