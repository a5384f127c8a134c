# SPDX-License-Identifier: BSD-3-Clause
"""Permutes that undo each other go, also with quantize and dequantize between.

before: permute_copy(quantize(permute_copy(%x, [0, 2, 1])), [0, 2, 1])     after: quantize(%x)
"""

from __future__ import annotations

from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.backends.transforms.edits import call_before, shape_of
from executorch.backends.transforms.permute_pass_utils import (
    FuseOpPairsAcrossBranchesPass,
    permutation_of,
)
from executorch.backends.transforms.unit_dims import keeps_data_order
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.dialects.edge._ops import EdgeOpOverload, EdgeOpOverloadPacket

_QD = exir_ops.edge.quantized_decomposed
_PACKETS = {exir_ops.edge.aten.transpose_copy, exir_ops.edge.aten.permute_copy}


class FuseTransposeOrPermuteOpPairsPass(FuseOpPairsAcrossBranchesPass):
    """Where the two move only dimensions of size 1 a view takes their place."""

    bypass_ops: set[EdgeOpOverload] = {
        _QD.quantize_per_tensor.default,
        _QD.dequantize_per_tensor.default,
    }

    def can_fuse_for_chain(
        self, producer: Node, consumer: Node, consumer_op_packets: set[EdgeOpOverloadPacket]
    ) -> bool:
        if not super().can_fuse_for_chain(producer, consumer, consumer_op_packets):
            return False
        first, second = permutation_of(producer), permutation_of(consumer)
        shape = shape_of(producer.args[0])
        return keeps_data_order(shape, [first[dim] for dim in second])

    def get_fused_node(self, producer: Node, consumer: Node, graph_module: GraphModule) -> Node:
        source = consumer.args[0]
        if shape_of(source) == shape_of(consumer):
            return source
        view = exir_ops.edge.aten.view_copy.default
        return call_before(consumer, view, (source, shape_of(consumer)))

    def call(self, graph_module: GraphModule) -> PassResult:
        modified = self.find_and_fuse(graph_module, _PACKETS, _PACKETS, self.bypass_ops)
        return PassResult(graph_module, modified)
