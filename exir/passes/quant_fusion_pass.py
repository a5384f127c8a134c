# SPDX-License-Identifier: BSD-3-Clause
"""quantize(add(dequantize(a), dequantize(b)))  ->  quantized_decomposed.add(a, b), when all three have one dtype;
embedding(dequantize(table), ids)  ->  quantized_decomposed.embedding_byte, or _4bit and _2bit of the packed table."""

from __future__ import annotations

from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.backend.lowering.quantized import Quantization, quantization_of, table_of
from executorch.exir.backend.lowering.quantized_steps import quantized_step
from executorch.exir.dialects._ops import ops
from executorch.exir.dialects.edge._ops import EdgeOpOverload, edge_op_of
from executorch.exir.graph_facts import called_op
from executorch.exir.pass_base import ExportPass
from executorch.exir.passes._quant_patterns_and_replacements import pack_embedding_weight
from executorch.exir.passes.constant_prop_pass import (
    constant_prop_pass,
    get_default_skip_targets_no_quant,
)

_EDGE = ops.edge.quantized_decomposed
# operator between dequantize and quantize -> the fused one, which takes (tensor, scale, zero point, min, max) of each
# input and the same four numbers of the output
_FUSED = {ops.edge.aten.add.Tensor: _EDGE.add.default}


class QuantFusionPass(ExportPass):
    """A float result that others use too is still computed; a dequantize without users left goes."""

    def __init__(self, _fix_node_meta_val: bool = False, node_value_dict: Any = None) -> None:
        super().__init__()

    def call(self, graph_module: GraphModule) -> PassResult:
        changed = False
        for node in list(graph_module.graph.nodes):
            changed |= _fuse_embedding(node)
            changed |= node.target in _FUSED and _fuse(node)
        if changed:
            graph_module.recompile()
        return PassResult(graph_module, changed)


def _fuse(node: Node) -> bool:
    """Each quantize of what `node` computes of two dequantized inputs."""
    step = quantized_step(node)
    operands = [each for each in node.args if isinstance(each, Node)]
    inputs = [step.inputs[each] for each in operands if each in step.inputs]
    if node.kwargs.get("alpha", 1) != 1 or len(operands) != 2 or len(inputs) != 2:
        return False
    quantized = [call for call, out in step.outputs.items() if _is_fusible([*inputs, out])]
    for call in quantized:
        arguments = [value for each in inputs for value in (each.source, *each.numbers)]
        numbers = quantization_of(call).numbers
        with node.graph.inserting_before(call):
            fused = node.graph.call_function(_FUSED[node.target], (*arguments, *numbers))
        fused.meta = dict(call.meta)
        call.replace_all_uses_with(fused)
        _erase_unused([call, node, *operands])
    return bool(quantized)


def _is_fusible(of: list[Quantization]) -> bool:
    one_dtype = len({each.dtype for each in of}) == 1
    return one_dtype and all(each.is_static and each.out_dtype is None for each in of)


def _fuse_embedding(node: Node) -> bool:
    if called_op(node) is not torch.ops.aten.embedding.default:
        return False
    source = node.args[0]
    table = table_of(source)
    if table is None or not isinstance(node.target, EdgeOpOverload):
        return False
    weight, bits = table.source, table.bits
    if bits < 8 and weight.meta["val"].shape[1] % (8 // bits) == 0:
        pack = edge_op_of(torch.ops.quant_fusion._pack_embedding_weight.default)
        with node.graph.inserting_before(node):
            weight = node.graph.call_function(pack, (table.source, bits))
        weight.meta = dict(source.meta)
        weight.meta["val"] = pack_embedding_weight(table.source.meta["val"], bits)
    else:
        bits = 8
    limits = (table.quant_min, table.quant_max)
    arguments = (weight, table.scale, table.zero_point, *limits, node.args[1])
    node.replace_all_uses_with(embedding_call(node, bits, arguments))
    _erase_unused([node, source])
    return True


def embedding_call(node: Node, bits: int, arguments: tuple[Any, ...]) -> Node:
    """The call of few bits that stands for an embedding, before it, with its dtype."""
    packets = torch.ops.quantized_decomposed
    packet = {8: packets.embedding_byte, 4: packets.embedding_4bit, 2: packets.embedding_2bit}[bits]
    dtype, scales = node.meta["val"].dtype, arguments[1]
    op, kwargs = packet.default, {}
    if dtype != torch.float32 or scales.meta["val"].dtype != torch.float32:
        op, kwargs = packet.dtype, {"dtype": dtype}
    with node.graph.inserting_before(node):
        call = node.graph.call_function(edge_op_of(op), arguments, kwargs)
    call.meta = dict(node.meta)
    return call


def _erase_unused(nodes: list[Node]) -> None:
    for node in dict.fromkeys(nodes):
        if not node.users:
            node.graph.erase_node(node)


def quant_fusion_and_const_prop_pass(program: ExportedProgram) -> ExportedProgram:
    """Fuses, then computes what depends on constants alone; works in place. Quantized weights become data."""
    QuantFusionPass()(program.graph_module)
    return constant_prop_pass(program, get_default_skip_targets_no_quant())
