# SPDX-License-Identifier: BSD-3-Clause
"""Quantizing and dequantizing nodes around a partition, for backends that take quantized tensors as they are."""

from __future__ import annotations

import operator

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.utils.source_matcher_utils import SourcePartition

from executorch.exir.backend.lowering.quantized import is_dequantize, is_quantize, quantization_of
from executorch.exir.backend.lowering.quantized_steps import quantized_step
from executorch.exir.dialects._ops import ops as exir_ops

T_QuantPerTensor = exir_ops.edge.quantized_decomposed.quantize_per_tensor.default
T_DQuantPerTensor = exir_ops.edge.quantized_decomposed.dequantize_per_tensor.default


def replace_quantized_partition_with_op(
    graph_module: GraphModule,
    partition: SourcePartition,
    replacement_op: torch._ops.OpOverloadPacket | torch._ops.OpOverload,
) -> tuple[Node, list[Node], list[Node]]:
    """before: dequantize -> partition -> quantize      after: replacement_op -> getitem 0

    The new call reads what the dequantizing nodes read. Gives it, and the dequantizing and quantizing nodes that
    stood around the partition and left the graph with it where nothing else reads them.
    """
    inside = set(partition.nodes)
    dequants = [
        source
        for node in partition.nodes
        for source, qparams in quantized_step(node).inputs.items()
        if qparams.is_static and source not in inside
    ]
    if not dequants:
        raise AssertionError("Dequant nodes missing in node list to be replaced.")
    quants = [
        user
        for node in partition.output_nodes
        for user, qparams in quantized_step(node).outputs.items()
        if qparams.is_static
    ]
    if not quants:
        raise AssertionError("Quant nodes missing in node list to be replaced.")
    graph = graph_module.graph
    with graph.inserting_before(partition.output_nodes[0]):
        call = graph.call_function(
            replacement_op, tuple(dict.fromkeys(node.args[0] for node in dequants))
        )
        result = graph.call_function(operator.getitem, (call, 0))
    for quant in quants:
        quant.replace_all_uses_with(result)
    for node in (*quants, *reversed(partition.nodes), *dict.fromkeys(dequants)):
        if not node.users and not node._erased:
            graph.erase_node(node)
    return call, dequants, quants


def remove_first_quant_and_last_dequant(graph_module: GraphModule) -> None:
    """Takes the quantizing of inputs and the dequantizing of outputs out: the graph takes and gives bytes."""
    graph = graph_module.graph
    for node in list(graph.nodes):
        qparams = quantization_of(node)
        if qparams is None or not qparams.is_static:
            continue
        first = is_quantize(node) and qparams.source.op == "placeholder"
        last = is_dequantize(node) and any(user.op == "output" for user in node.users)
        if first or last:
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)


def _get_item_from_executorch_call_delegate(node: Node) -> bool:
    """True for a result of a delegate."""
    target = torch.ops.higher_order.executorch_call_delegate
    return node.target is operator.getitem and node.args[0].target is target
