# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites of edge programs around quantized values."""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import GraphModule

from executorch.exir.backend.lowering.quantized import quantizes_back


def fold_pairs_in(module: GraphModule) -> bool:
    """before: %d = dequantize(%x, 0.1, 3); %q = quantize(%d, 0.1, 3); f(%q)       after: f(%x)"""
    found = [node for node in module.graph.nodes if quantizes_back(node)]
    for node in found:
        dequantize = node.args[0]
        node.replace_all_uses_with(dequantize.args[0])
        node.graph.erase_node(node)
        if not dequantize.users:
            dequantize.graph.erase_node(dequantize)
    if found:
        module.recompile()
    return bool(found)


def fold_redundant_pairs(program: ExportedProgram) -> None:
    """But for those whose result is an output: its name is the program's."""
    outputs = set(program.graph.output_node().all_input_nodes)
    found = [n for n in program.graph.nodes if quantizes_back(n) and n not in outputs]
    for node in found:
        dequantize = node.args[0]
        node.replace_all_uses_with(dequantize.args[0])
        node.graph.erase_node(node)
        if not dequantize.users:
            dequantize.graph.erase_node(dequantize)
    program.graph_module.recompile()
