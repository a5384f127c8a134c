# SPDX-License-Identifier: BSD-3-Clause
"""Models quantized, lowered and run by the kernels: the references' bits, within steps of eager PyTorch's floats."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from torch import nn

from executorch.backends.cadence.aot.compiler import export_to_edge, quantize_and_export_to_cadence
from executorch.examples.models.transformers import Attention
from executorch.exir.graph_facts import op_name
from executorch.runtime import Runtime
from executorch.test.e2e.build_tree import load_backend


@pytest.fixture(autouse=True, scope="module")
def kernels() -> None:
    load_backend("cadence")


# Model, inputs, the operators of cadence beside quantize and dequantize.
MODELS = {
    "linear": (nn.Linear(32, 16), torch.randn(64, 32), {"quantized_linear": 1}),
    "linear without bias": (
        nn.Linear(5, 7, bias=False),
        torch.randn(3, 5),
        {"quantized_linear": 1},
    ),
    "conv1d": (
        nn.Conv1d(8, 16, 3, stride=2, padding=4, dilation=3),
        torch.randn(1, 8, 33),
        {"quantized_conv1d_ncl": 1},
    ),
    "conv2d with groups": (
        nn.Conv2d(4, 8, (3, 2), padding=1, groups=2),
        torch.randn(2, 4, 7, 6),
        {"quantized_conv2d_nchw": 1},
    ),
    "conv, relu, linear": (
        nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 10)),
        torch.randn(1, 3, 6, 6),
        {"quantized_conv2d_nchw": 1, "quantized_relu": 1, "quantized_linear": 1},
    ),
    "attention": (
        Attention(16, 2),
        torch.randn(1, 5, 16),
        {"quantized_linear": 4, "quantized_matmul": 2, "quantized_softmax": 1},
    ),
}


@pytest.mark.req("NPU-047")
@pytest.mark.parametrize("name", MODELS)
def test_kernels_give_the_bits_of_the_references(name: str) -> None:
    torch.manual_seed(0)
    model, x, expected = MODELS[name]
    edge = quantize_and_export_to_cadence(model, (x,))
    graph_module = edge.exported_program().graph_module
    called = [op_name(node) for node in graph_module.graph.nodes if node.op == "call_function"]
    own = Counter(each.split(".")[1] for each in called if each.startswith("cadence."))
    assert {each: own[each] for each in own if each.startswith("quantized_")} == expected
    reference = edge.exported_program().module()(x)
    program = Runtime.get().load_program(edge.to_executorch().buffer)
    found = program.load_method("forward").execute((x,))[0].clone()
    assert torch.equal(found, reference)
    with torch.no_grad():
        eager = model(x)
    assert (found - eager).pow(2).mean() < 1e-3 * eager.pow(2).mean()


@pytest.mark.req("NPU-051")
def test_attention_has_no_floats_inside() -> None:
    """Moves are of bytes, and its two factors become part of scales: one quantize, one dequantize are left."""
    model, x, _ = MODELS["attention"]
    edge = quantize_and_export_to_cadence(model, (x,))
    nodes = edge.exported_program().graph.nodes
    called = Counter(op_name(each).split(".")[1] for each in nodes if each.op == "call_function")
    assert not called["mul"] and not called["requantize"]
    assert called["quantize_per_tensor"] == called["dequantize_per_tensor"] == 1


def test_float_models_keep_their_operators() -> None:
    edge = export_to_edge(nn.Linear(4, 3), (torch.randn(2, 4),))
    nodes = edge.exported_program().graph.nodes
    assert [op_name(each) for each in nodes if each.op == "call_function"] == [
        "aten.linear.default"
    ]
