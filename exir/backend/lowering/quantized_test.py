# SPDX-License-Identifier: BSD-3-Clause
"""Every form of quantizing and dequantizing is read as one thing."""

from __future__ import annotations

import pytest
import torch
from torch.fx import Graph, Node

from executorch.exir.backend.lowering.quantized import Quantization, quantization_of, weight_of

QD, AO = torch.ops.quantized_decomposed, "torchao"
INT8 = (-128, 127, torch.int8)


class Calls:
    def __init__(self) -> None:
        self.graph = Graph()
        self.x, self.scale, self.point = map(self.graph.placeholder, ("x", "scale", "point"))

    def __call__(self, target, *args, **kwargs) -> Node:
        return self.graph.call_function(target, args, kwargs)


def torchao(verb: str):
    pytest.importorskip("torchao.quantization.quant_primitives")
    return getattr(torch.ops.torchao, f"{verb}_affine").default


def test_quantized_decomposed() -> None:
    c = Calls()
    one = Quantization(c.x, 0.5, 3, *INT8)
    assert quantization_of(c(QD.quantize_per_tensor.default, c.x, 0.5, 3, *INT8)) == one
    assert quantization_of(c(QD.dequantize_per_tensor.default, c.x, 0.5, 3, *INT8)) == one
    half = c(QD.dequantize_per_tensor.default, c.x, 0.5, 3, *INT8, out_dtype=torch.float16)
    assert quantization_of(half) == Quantization(c.x, 0.5, 3, *INT8, out_dtype=torch.float16)
    nodes = (c.x, c.scale, c.point)
    by_tensor = quantization_of(c(QD.quantize_per_tensor.tensor, *nodes, *INT8))
    assert by_tensor == Quantization(*nodes, *INT8) and by_tensor.source is c.x
    by_row = quantization_of(c(QD.dequantize_per_token.default, *nodes, *INT8, torch.float32))
    assert by_row == Quantization(*nodes, *INT8, group_size=None) != by_tensor
    channels = c(QD.dequantize_per_channel.default, *nodes, 1, *INT8)
    assert quantization_of(channels) == Quantization(*nodes, *INT8, axis=1)
    groups = c(
        QD.dequantize_per_channel_group.default, *nodes, -8, 7, torch.int8, 32, torch.float32
    )
    qparams = quantization_of(groups)
    assert (
        qparams == Quantization(*nodes, -8, 7, torch.int8, axis=0, group_size=32)
        and qparams.bits == 4
    )


def test_torchao() -> None:
    c = Calls()
    rows = c(torchao("dequantize"), c.x, [1, 64], c.scale, None, torch.int8, -8, 7)
    assert quantization_of(rows) == Quantization(c.x, c.scale, None, -8, 7, torch.int8, 0, 64)
    whole = c(torchao("quantize"), c.x, [4, 64], c.scale, c.point, torch.int8)
    assert quantization_of(whole) == Quantization(c.x, c.scale, c.point, *INT8, 0, None)
    half = c(torchao("dequantize"), c.x, [1, 2], c.scale, None, torch.int8, output_dtype=torch.half)
    assert quantization_of(half).out_dtype == torch.half


def test_other_calls_say_nothing() -> None:
    c = Calls()
    assert quantization_of(c.x) is None
    assert quantization_of(c(torch.ops.aten.relu.default, c.x)) is None
    assert quantization_of(c(QD.choose_qparams.tensor, c.x, -128, 127, 1e-6, torch.int8)) is None


@pytest.mark.parametrize(
    ("least", "largest", "bits"), [(-2, 1, 2), (-8, 7, 4), (-8, 8, 8), (0, 255, 8)]
)
def test_bits(least: int, largest: int, bits: int) -> None:
    assert Quantization(Calls().x, 1.0, 0, least, largest, torch.int8).bits == bits


def test_weights() -> None:
    c = Calls()
    data = torch.arange(-8, 8, dtype=torch.int8).reshape(2, 8)
    scales = torch.tensor([[0.5, 1.0], [2.0, 4.0]])
    constants = {c.x: data, c.scale: scales, c.point: torch.zeros(2, 2, dtype=torch.int32)}
    groups = c(
        QD.dequantize_per_channel_group.default,
        c.x,
        c.scale,
        c.point,
        -8,
        7,
        torch.int8,
        4,
        torch.float,
    )
    weight = weight_of(groups, constants)
    assert weight.source.equal(data) and weight.scale.equal(scales) and weight.zero_point is None
    assert (weight.axis, weight.group_size, weight.bits) == (0, 4, 4)
    constants[c.scale] = torch.tensor([0.5, 1.0])
    rows = c(torchao("dequantize"), c.x, [1, 8], c.scale, None, torch.int8)
    weight = weight_of(rows, constants)
    assert (weight.group_size, weight.bits, weight.scale.tolist()) == (0, 8, [0.5, 1.0])
    whole = weight_of(c(QD.dequantize_per_tensor.default, c.x, 0.25, 0, *INT8), constants)
    assert (whole.axis, whole.scale.tolist()) == (None, [0.25])


def test_weights_that_are_not_symmetric() -> None:
    c = Calls()
    constants = {c.x: torch.ones(2, 2, dtype=torch.int8), c.scale: torch.tensor([1.0, 2.0])}
    constants[c.point] = torch.tensor([0, 1])
    by_channel = (QD.dequantize_per_channel.default, c.x, c.scale, c.point, 0, *INT8)
    assert weight_of(c(*by_channel), constants) is None
    constants[c.point] = torch.tensor([0, 0])
    assert weight_of(c(*by_channel), constants) is not None
    constants[c.scale] = torch.tensor([1.0, 0.0])
    assert weight_of(c(*by_channel), constants) is None
    constants[c.scale] = torch.tensor([1.0, 2.0])
    assert weight_of(c(QD.quantize_per_tensor.default, c.x, 1.0, 0, *INT8), constants) is None
    several_rows = c(torchao("dequantize"), c.x, [2, 2], c.scale, None, torch.int8)
    assert weight_of(several_rows, constants) is None
    del constants[c.point]
    assert weight_of(c(*by_channel), constants) is None  # it is computed
