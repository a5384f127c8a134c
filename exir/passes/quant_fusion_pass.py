# SPDX-License-Identifier: BSD-3-Clause
"""quantize(add(dequantize(a), dequantize(b)))  ->  quantized_decomposed.add(a, b), when all three have one dtype."""

from __future__ import annotations

from typing import Any

from torch.export import ExportedProgram
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

import executorch.exir.passes._quant_patterns_and_replacements  # noqa: F401  (defines the operators)
from executorch.exir.dialects._ops import ops
from executorch.exir.pass_base import ExportPass
from executorch.exir.passes.constant_prop_pass import constant_prop_pass

_EDGE = ops.edge.quantized_decomposed
_QUANTIZE, _DEQUANTIZE = _EDGE.quantize_per_tensor.default, _EDGE.dequantize_per_tensor.default
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
            inputs = _fusible_inputs(node)
            if inputs is None:
                continue
            arguments = [value for each in inputs for value in each.args[:5]]
            with graph_module.graph.inserting_before(node):
                fused = graph_module.graph.call_function(
                    _FUSED[node.args[0].target], (*arguments, *node.args[1:5])
                )
            fused.meta = dict(node.meta)
            node.replace_all_uses_with(fused)
            _erase_unused([node, node.args[0], *inputs])
            changed = True
        if changed:
            graph_module.recompile()
        return PassResult(graph_module, changed)


def _fusible_inputs(node: Node) -> list[Node] | None:
    """The dequantize nodes that feed what `node` quantizes, if it can be fused."""
    if node.target != _QUANTIZE or not isinstance(node.args[0], Node):
        return None
    between = node.args[0]
    if between.target not in _FUSED or between.kwargs.get("alpha", 1) != 1:
        return None
    inputs = [each for each in between.args if isinstance(each, Node)]
    dtypes = {each.args[5] for each in inputs if each.target == _DEQUANTIZE} | {node.args[5]}
    whole = len(inputs) == 2 and all(
        each.target == _DEQUANTIZE and each.kwargs.get("out_dtype") is None for each in inputs
    )
    return inputs if whole and len(dtypes) == 1 else None


def _erase_unused(nodes: list[Node]) -> None:
    for node in dict.fromkeys(nodes):
        if not node.users:
            node.graph.erase_node(node)


def quant_fusion_and_const_prop_pass(program: ExportedProgram) -> ExportedProgram:
    """Fuses, then computes what depends on constants alone; works in place. Quantized weights become data."""
    QuantFusionPass()(program.graph_module)
    return constant_prop_pass(program)
