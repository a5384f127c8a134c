# SPDX-License-Identifier: BSD-3-Clause
"""Float biases of quantized convolutions become int32, in a module and in a program."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.transforms.quantize_fused_convbn_bias_pass import (
    QuantizeFusedConvBnBiasAtenPass,
)
from executorch.backends.transforms.utils import get_param_tensor
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.exir import to_edge
from executorch.exir.graph_facts import attribute_of, op_name

QD = torch.ops.quantized_decomposed
X = torch.randn(2, 3, 8, 8)
CONVOLUTIONS = ("aten.conv2d.default", "aten.conv_transpose2d.input", "aten.convolution.default")


def quantized(model: nn.Module, is_per_channel: bool = False) -> GraphModule:
    quantizer = XNNPACKQuantizer()
    quantizer.set_global(get_symmetric_quantization_config(is_per_channel=is_per_channel))
    prepared = prepare_pt2e(torch.export.export(model.eval(), (X,)).module(), quantizer)
    prepared(X)
    return convert_pt2e(prepared)


def with_norm(convolution: nn.Module) -> nn.Module:
    norm = nn.BatchNorm2d(convolution.out_channels)
    norm.running_mean.uniform_(-1, 1), norm.running_var.uniform_(0.5, 2)
    return nn.Sequential(convolution, norm)


def bias_of(graph_module: GraphModule) -> Node:
    """What dequantizes the bias of the only convolution."""
    (node,) = (n for n in graph_module.graph.nodes if op_name(n) in CONVOLUTIONS)
    return node.args[2]


MODELS = {
    "conv": lambda: with_norm(nn.Conv2d(3, 4, 3)),
    "transposed": lambda: with_norm(nn.ConvTranspose2d(3, 4, 3)),
}


@pytest.mark.parametrize("is_program", [False, True], ids=["module", "program"])
@pytest.mark.parametrize(
    ("model", "is_per_channel"), [("conv", False), ("conv", True), ("transposed", False)]
)
def test_a_bias_gets_the_scale_of_the_sums(
    model: str, is_per_channel: bool, is_program: bool
) -> None:
    module = quantized(MODELS[model](), is_per_channel)
    wanted = module(X)
    program = torch.export.export(module, (X,)) if is_program else None
    graph_module = program.graph_module if program is not None else module
    result = QuantizeFusedConvBnBiasAtenPass(program)(graph_module)
    assert result.modified and result.graph_module is graph_module

    def data(node: Node) -> torch.Tensor:
        if program is not None:
            return get_param_tensor(program, node)
        return attribute_of(graph_module, node.target)

    bias = bias_of(graph_module)
    assert bias.args[-3:] == (-(2**31), 2**31 - 1, torch.int32)
    assert data(bias.args[0]).dtype == torch.int32
    convolution = next(iter(bias.users))
    image, weight = convolution.args[:2]
    if is_per_channel:
        assert bias.target is QD.dequantize_per_channel.default and bias.args[3] == 0
        scales, points = bias.args[1:3]
        assert scales.name.endswith("_bias_scale") and points.name.endswith("_bias_zero_point")
        torch.testing.assert_close(data(scales), data(weight.args[1]) * image.args[1])
        assert data(points).dtype == torch.int32 and not data(points).any()
    else:
        assert bias.args[1:3] == (image.args[1] * weight.args[1], 0)
    run = program.module() if program is not None else graph_module
    # a code of the bias is a small part of a code of the result: at most that may change
    step = next(n.args[1] for n in convolution.users)
    torch.testing.assert_close(run(X), wanted, rtol=0, atol=1.01 * step)
    assert not QuantizeFusedConvBnBiasAtenPass(program)(graph_module).modified


def test_a_program_with_such_a_bias_lowers() -> None:
    program = torch.export.export(quantized(MODELS["conv"](), True), (X,))
    wanted = program.module()(X)
    QuantizeFusedConvBnBiasAtenPass(program)(program.graph_module)
    edge = to_edge(program).exported_program()
    torch.testing.assert_close(edge.module()(X), wanted, rtol=0, atol=0.1)


@pytest.mark.parametrize("is_program", [False, True], ids=["module", "program"])
def test_a_convolution_without_a_bias_gets_zeros_when_asked(is_program: bool) -> None:
    module = quantized(nn.Conv2d(3, 4, 3, bias=False))
    program = torch.export.export(module, (X,)) if is_program else None
    graph_module = program.graph_module if program is not None else module
    wanted = module(X)
    assert not QuantizeFusedConvBnBiasAtenPass(program)(graph_module).modified
    one = QuantizeFusedConvBnBiasAtenPass(program, default_zero_bias=True, symmetric_quant=True)
    assert one(graph_module).modified
    bias = bias_of(graph_module)
    assert bias.args[0].name.endswith("_default_zero_bias")
    assert bias.args[3:5] == (-(2**31) + 1, 2**31 - 1)
    run = program.module() if program is not None else graph_module
    assert torch.equal(run(X), wanted)


def one_convolution(transposed: bool) -> tuple[ExportedProgram, Any]:
    """Grouped, weights per channel, written by hand: quantizers make no such transposed convolution."""

    class Grouped(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            shape = (4, 3, 2, 2) if transposed else (6, 2, 2, 2)
            self.register_buffer("codes", torch.randint(-127, 128, shape, dtype=torch.int8))
            self.register_buffer("scales", torch.rand(3 if transposed else 6) + 0.5)
            self.register_buffer("points", torch.zeros(3 if transposed else 6, dtype=torch.int64))
            self.bias = nn.Parameter(torch.arange(6.0))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            axis = int(transposed)
            weight = QD.dequantize_per_channel(
                self.codes, self.scales, self.points, axis, -127, 127, torch.int8
            )
            stored = QD.quantize_per_tensor(x, 0.25, 0, -128, 127, torch.int8)
            value = QD.dequantize_per_tensor(stored, 0.25, 0, -128, 127, torch.int8)
            function = nn.functional.conv_transpose2d if transposed else nn.functional.conv2d
            return function(value, weight, self.bias, groups=2)

    module = Grouped()
    return torch.export.export(module, (torch.randn(1, 4, 5, 5),)), module


@pytest.mark.parametrize("transposed", [False, True])
def test_each_group_of_outputs_has_its_scales(transposed: bool) -> None:
    program, module = one_convolution(transposed)
    scales = module.scales.repeat(2) if transposed else module.scales
    expected = (torch.arange(6.0) / (0.25 * scales.double())).round()
    assert QuantizeFusedConvBnBiasAtenPass(program)(program.graph_module).modified
    stored = bias_of(program.graph_module).args[0]
    assert torch.equal(get_param_tensor(program, stored).double(), expected)


def test_a_bias_that_two_convolutions_read_is_quantized_for_each() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Conv2d(3, 4, 3), nn.Conv2d(3, 4, 3)
            self.second.weight = nn.Parameter(self.first.weight * 100)
            self.second.bias = self.first.bias

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.first(x) + self.second(x)

    module = quantized(Twice())
    wanted = module(X)
    program = torch.export.export(module, (X,))
    QuantizeFusedConvBnBiasAtenPass(program)(program.graph_module)
    torch.testing.assert_close(program.module()(X), wanted, rtol=0, atol=2)
    stored = [n.args[2].args[0] for n in program.graph.nodes if op_name(n) in CONVOLUTIONS]
    one, other = (get_param_tensor(program, node).double() for node in stored)
    assert one.abs().sum() > 50 * other.abs().sum()
