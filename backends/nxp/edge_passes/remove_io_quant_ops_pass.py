# SPDX-License-Identifier: BSD-3-Clause
# compat
"""A program whose inputs and outputs are int8, as its delegates read and write them."""

from __future__ import annotations

from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir import EdgeProgramManager
from executorch.exir.backend.lowering.quantized import is_dequantize, is_quantize
from executorch.exir.pass_base import ExportPass
from executorch.exir.passes.quantize_io_pass import QuantizeInputs, QuantizeOutputs


class RemoveIOQuantOpsPass(ExportPass):
    """Inputs that are quantized and outputs that are dequantized; ValueError for an input with several users."""

    def __init__(self, edge_program_manager: EdgeProgramManager) -> None:
        super().__init__()
        self._manager = edge_program_manager

    def call(self, graph_module: GraphModule) -> PassResult:
        signature = self._manager.exported_program().graph_signature
        inputs = {each.name: each for each in graph_module.graph.find_nodes(op="placeholder")}
        given = [inputs[name] for name in signature.user_inputs]
        for node in given:
            if len(node.users) > 1 and any(map(is_quantize, node.users)):
                raise ValueError(f"input {node.name}: expected one user, found {len(node.users)}")
        outputs = graph_module.graph.output_node().args[0]
        places = [place for place, node in enumerate(given) if any(map(is_quantize, node.users))]
        made = QuantizeInputs(self._manager, places)(graph_module).graph_module
        results = [place for place, node in enumerate(outputs) if is_dequantize(node)]
        made = QuantizeOutputs(self._manager, results)(made).graph_module
        return PassResult(made, bool(places or results))
