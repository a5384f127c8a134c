# SPDX-License-Identifier: BSD-3-Clause
"""What is quantized as it was stored stays as it is. Calls of kernels carry their own scales, so that a tensor may be
read by another scale than it was written by."""

from __future__ import annotations

from dataclasses import replace

from torch.fx import GraphModule, Node
from torch.fx.passes.infra.pass_base import PassResult

from executorch.exir.backend.lowering.quantized import (
    Quantization,
    is_dequantize,
    is_quantize,
    quantization_of,
    quantizes_back,
)


class FoldRequantizationPass:
    """quantize(dequantize(x))  ->  x, where every stored value comes back."""

    def __call__(self, graph_module: GraphModule) -> PassResult:
        found = [node for node in graph_module.graph.nodes if is_requantization(node)]
        for node in found:
            node.replace_all_uses_with(node.args[0].args[0])
        graph_module.graph.eliminate_dead_code()
        graph_module.recompile()
        return PassResult(graph_module, bool(found))


def is_requantization(node: Node) -> bool:
    """Whether it quantizes what was dequantized to the same stored values."""
    if quantizes_back(node):
        return True
    before = node.args[0] if is_quantize(node) else None
    is_plain = before is not None and is_dequantize(before) and not before.kwargs
    return is_plain and _have_same_steps(quantization_of(before), quantization_of(node))


def _have_same_steps(old: Quantization | None, new: Quantization | None) -> bool:
    """round((stored - zero_point) * old.scale / new.scale) is stored - zero_point, of the furthest that there is."""
    if old is None or new is None or not (old.is_static and new.is_static):
        return False
    furthest = max(old.quant_max - old.zero_point, old.zero_point - old.quant_min)
    is_same = replace(old, scale=new.scale) == new
    return is_same and furthest * abs(old.scale / new.scale - 1) < 0.49
