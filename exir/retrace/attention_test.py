# SPDX-License-Identifier: BSD-3-Clause
"""torch's fast path of transformer layers, which a strict export without gradients takes, beside eager."""

from __future__ import annotations

import pytest
import torch
from torch.export import export

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge, to_edge_transform_and_lower
from executorch.runtime import Runtime

aten = torch.ops.aten
FUTURE = torch.triu(torch.ones(5, 5, dtype=torch.bool), 1)
PADDED = torch.tensor([[0, 0, 0, 0, 1], [0, 0, 0, 1, 1]], dtype=torch.bool)


class Layer(torch.nn.Module):
    def __init__(self, activation: str, norm_first: bool) -> None:
        super().__init__()
        self.layer = torch.nn.TransformerEncoderLayer(
            8, 2, 16, activation=activation, norm_first=norm_first, batch_first=True
        )

    def forward(
        self, x: torch.Tensor, mask: torch.Tensor | None, padded: torch.Tensor | None
    ) -> torch.Tensor:
        return self.layer(x, src_mask=mask, src_key_padding_mask=padded)


@pytest.fixture(autouse=True)
def _drawn() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize("activation, norm_first", [("relu", False), ("gelu", True)])
@pytest.mark.parametrize("mask", [None, FUTURE], ids=["", "masked"])
@pytest.mark.parametrize("padded", [None, PADDED], ids=["", "padded"])
def test_a_layer_equals_eager(
    activation: str, norm_first: bool, mask: torch.Tensor | None, padded: torch.Tensor | None
) -> None:
    layer, inputs = Layer(activation, norm_first).eval(), (torch.randn(2, 5, 8), mask, padded)
    with torch.no_grad():
        program = export(layer, inputs, strict=True)
        wanted = layer(*inputs)
    called = {node.target for node in program.graph.nodes}
    assert aten._transformer_encoder_layer_fwd.default in called
    data = to_edge(program).to_executorch().buffer
    found = Runtime.get().load_program(data).load_method("forward").execute(list(inputs))
    torch.testing.assert_close(found[0], wanted, rtol=1e-5, atol=2e-6)


def test_a_backend_sees_the_products() -> None:
    layer, inputs = Layer("relu", False).eval(), (torch.randn(2, 5, 8), None, None)
    with torch.no_grad():
        program = export(layer, inputs, strict=True)
    edge = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])
    left = {str(node.target) for node in edge.exported_program().graph.nodes}
    assert not any("linear" in name or "addmm" in name for name in left), left


class Attention(torch.nn.Module):
    def __init__(self, weights: bool, average: bool) -> None:
        super().__init__()
        self.layer = torch.nn.MultiheadAttention(8, 2)
        self.weights, self.average = weights, average

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, ...]:
        layer = self.layer
        result = torch._native_multi_head_attention(
            x, x, x, 8, 2, layer.in_proj_weight, layer.in_proj_bias, layer.out_proj.weight,
            layer.out_proj.bias, mask, self.weights, self.average, 0,
        )  # fmt: skip
        return tuple(result) if self.weights else result[:1]


@pytest.mark.parametrize("weights, average", [(True, True), (True, False), (False, True)])
def test_attention_equals_eager(weights: bool, average: bool) -> None:
    layer, inputs = Attention(weights, average).eval(), (torch.randn(2, 5, 8), FUTURE)
    with torch.no_grad():
        data = to_edge(export(layer, inputs)).to_executorch().buffer
        wanted = layer(*inputs)
    found = Runtime.get().load_program(data).load_method("forward").execute(list(inputs))
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=2e-6)
