# SPDX-License-Identifier: BSD-3-Clause
# compat
"""before: %q = quantize(cat(dequantize(%x, p), dequantize(%y, p)), p)        after: %q = cat(%x, %y)

of data movement that is not delegated, where all parameters are equal."""

from __future__ import annotations

from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.nxp.edge_passes.neutron_edge_pass import NeutronEdgePass, numbers_of
from executorch.exir.backend.lowering.quantized import is_dequantize, is_quantize
from executorch.exir.graph_facts import only_user, op_name

_DATA_MOVEMENT = ("aten.permute_copy.default", "aten.cat.default")


class RemoveAdditionalQDQClustersPass(NeutronEdgePass):
    def run(self, graph_module: GraphModule) -> PassResult:
        for node in graph_module.graph.nodes:
            if op_name(node) in _DATA_MOVEMENT and self._is_surrounded(node):
                self._move_stored(node)
                return PassResult(graph_module, True)
        return PassResult(graph_module, False)

    @staticmethod
    def _is_surrounded(node: Node) -> bool:
        user = only_user(node)
        if user is None or not is_quantize(user) or "output" in {each.op for each in user.users}:
            return False
        sources = node.all_input_nodes
        found = {numbers_of(each) for each in (*sources, user)}
        return all(map(is_dequantize, sources)) and len(found) == 1 and None not in found

    @staticmethod
    def _move_stored(node: Node) -> None:
        (quantize,) = node.users
        for source in node.all_input_nodes:
            node.replace_input_with(source, source.args[0])
            if not source.users:
                source.graph.erase_node(source)
        node.meta["val"] = quantize.meta["val"]
        quantize.replace_all_uses_with(node)
        quantize.graph.erase_node(quantize)
