# SPDX-License-Identifier: BSD-3-Clause
"""Between delegates, and to and from the CPU, there are floats; the numbers are the same."""

from __future__ import annotations

from types import SimpleNamespace

import torch
from torch.fx import GraphModule, Node

from executorch.exir.backend.lowering.float_boundaries import make_boundaries_float
from executorch.exir.backend.lowering.quantized_steps_test import ATEN, Calls


def tagged(node: Node, tag: str) -> Node:
    node.meta["delegation_tag"] = tag
    return node


def network() -> tuple[GraphModule, list[Node]]:
    """relu in A, its result read by an addition in B and by the CPU; the CPU's quantized, and read in B."""
    c = Calls()
    limited = tagged(c(ATEN.relu.default, c.x), "A")
    quantized = tagged(c.quantize(limited, 0.5, 3), "A")
    of_cpu = c.quantize(c(ATEN.cos.default, c.dequantize(quantized, 0.5, 3)), 0.25)
    x, y = (
        tagged(c.dequantize(each, scale, point), "B")
        for each, scale, point in ((quantized, 0.5, 3), (of_cpu, 0.25, 0))
    )
    total = tagged(c(ATEN.add.Tensor, x, y), "B")
    c.graph.output(tagged(c.quantize(total, 1.0), "B"))
    return GraphModule(torch.nn.Module(), c.graph), [limited, total]


def test_what_crosses_is_float() -> None:
    module, _ = network()
    x, w = torch.randn(4, 5) * 20, torch.zeros(1)
    expected = module(x, w)
    make_boundaries_float(SimpleNamespace(graph=module.graph, graph_module=module))
    module.graph.lint()
    assert torch.equal(module(x, w), expected)
    for node in module.graph.nodes:
        for source in node.all_input_nodes:
            crosses = source.meta.get("delegation_tag") != node.meta.get("delegation_tag")
            if crosses and source.op == "call_function" and node.op != "output":
                assert ".quantize" not in str(source.target), (source, node)
    tags = [
        (str(node.target).split(".")[1], node.meta.get("delegation_tag"))
        for node in module.graph.nodes
        if node.op == "call_function"
    ]
    assert tags == [
        ("relu", "A"),
        ("quantize_per_tensor", "A"),
        ("dequantize_per_tensor", "A"),
        ("quantize_per_tensor", "B"),
        ("cos", None),
        ("quantize_per_tensor", "B"),
        ("dequantize_per_tensor", "B"),
        ("dequantize_per_tensor", "B"),
        ("add", "B"),
        ("quantize_per_tensor", "B"),
    ]
