# SPDX-License-Identifier: BSD-3-Clause
"""What the table of operators says of each beside how it is lowered: which make no delegate by themselves, which take
limits behind them in, and which lie channels last inside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.test.lowering_test import graphs, kinds
from executorch.exir import EdgeProgramManager, to_edge_transform_and_lower
from executorch.exir.graph_facts import op_name

Function = Callable[[torch.Tensor], torch.Tensor]


class Calls(nn.Module):
    """One function after the other."""

    def __init__(self, *functions: Function) -> None:
        super().__init__()
        self.functions = functions
        self.layers = nn.ModuleList(f for f in functions if isinstance(f, nn.Module))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for function in self.functions:
            x = function(x)
        return x


def lowered(x: torch.Tensor, *functions: Function) -> EdgeProgramManager:
    exported = torch.export.export(Calls(*functions).eval(), (x,))
    return to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])


def outside(manager: EdgeProgramManager) -> set[str]:
    """Names of operators that are not delegated."""
    nodes = manager.exported_program().graph.nodes
    return {op_name(node) for node in nodes if node.op == "call_function"} - {""}


def num_inside(manager: EdgeProgramManager) -> Counter[str]:
    return sum(map(kinds, graphs(manager)), Counter())


def quantized(x: torch.Tensor) -> torch.Tensor:
    ops, parameters = torch.ops.quantized_decomposed, (0.05, 0, -128, 127, torch.int8)
    stored = ops.quantize_per_tensor.default(x, *parameters)
    return ops.dequantize_per_tensor.default(stored, *parameters)


IMAGE = (1, 4, 6, 6)
ALONE: dict[str, tuple[tuple[int, ...], Function]] = {
    "cat": (IMAGE, lambda x: torch.cat([x, x], 1)),
    "clone": (IMAGE, lambda x: x.clone()),
    "constant_pad_nd": (IMAGE, lambda x: F.pad(x, (1, 2))),
    "expand": ((2, 1, 3), lambda x: x.expand(2, 5, 3)),
    "group_norm": (IMAGE, nn.GroupNorm(1, 4)),
    "max_pool3d": ((1, 4, 6, 6, 6), nn.MaxPool3d(2)),
    "permute": (IMAGE, lambda x: x.permute(0, 2, 3, 1)),
    "quantize": (IMAGE, quantized),
    "select": (IMAGE, lambda x: x.select(1, 2)),
    "slice": (IMAGE, lambda x: x[:, 1:3]),
    "softmax along another dimension": (IMAGE, lambda x: x.softmax(2)),
    "squeeze": ((2, 1, 3), lambda x: x.squeeze(1)),
    "unsqueeze": ((2, 3), lambda x: x.unsqueeze(1)),
    "upsample_nearest2d": (IMAGE, nn.Upsample(scale_factor=2)),
    "view": (IMAGE, lambda x: x.reshape(4, 36)),
}


@pytest.mark.parametrize("name", ALONE)
def test_what_only_joins_is_no_delegate_alone(name: str) -> None:
    shape, function = ALONE[name]
    assert not graphs(lowered(torch.randn(shape), function))
    between = lowered(torch.randn(shape), torch.tanh, function, torch.tanh)
    assert len(graphs(between)) == 1 and not outside(between)


class Multiply(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(6, 3)), nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.addmm(self.bias, x, self.weight)


CLAMPED: dict[str, tuple[tuple[int, ...], tuple[Function, ...]]] = {
    "convolution": (IMAGE, (nn.Conv2d(4, 4, 3),)),
    "convolution and norm": (IMAGE, (nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4))),
    "norm": (IMAGE, (nn.BatchNorm2d(4),)),
    "linear": ((2, 6), (nn.Linear(6, 3),)),
    "addmm": ((2, 6), (Multiply(),)),
    "add": ((2, 6), (lambda x: x + x,)),
    "sub": ((2, 6), (lambda x: x - x.exp(),)),
    "mul": ((2, 6), (lambda x: x * x,)),
    "div": ((2, 6), (lambda x: x / x.exp(),)),
}


@pytest.mark.parametrize("limits", [F.relu, F.relu6, lambda x: x.clamp(-0.5, 0.5)])
@pytest.mark.parametrize("name", CLAMPED)
def test_limits_are_part_of_what_is_before_them(name: str, limits: Function) -> None:
    shape, functions = CLAMPED[name]
    plain, limited = (
        num_inside(lowered(torch.randn(shape), *functions, *more)) for more in ((), (limits,))
    )
    assert plain and limited == plain
    behind = num_inside(lowered(torch.randn(shape), torch.tanh, limits))
    assert behind == {"XNNTanh": 1, "XNNClamp": 1}  # where nothing takes them, they are a node


LARGE = (1, 8, 256, 256)
LIGHT: dict[str, tuple[Function, ...]] = {
    "avg_pool2d": (nn.AvgPool2d(2),),
    "convolution": (nn.Conv2d(8, 8, 1),),
    "max_pool2d": (nn.MaxPool2d(2),),
    "mean": (lambda x: x.mean((2, 3), keepdim=True),),
    "softmax of channels": (torch.tanh, lambda x: x.softmax(1)),
    "upsample_bilinear2d": (nn.UpsamplingBilinear2d(scale_factor=2),),
    "upsample_nearest2d": (torch.tanh, nn.Upsample(scale_factor=2)),
}


@pytest.mark.parametrize("name", LIGHT)
def test_light_work_on_plain_images_costs_less_than_transposes(name: str) -> None:
    exported = torch.export.export(Calls(*LIGHT[name]).eval(), (torch.randn(LARGE),))
    edge = to_edge_transform_and_lower(exported).exported_program()
    reasons = XnnpackPartitioner().why_not_delegated(edge)
    assert reasons and all("transposes would cost" in why for why in reasons.values())


# PyTorch's softmax gives a plain image.
@pytest.mark.parametrize("name", [name for name in LIGHT if "softmax" not in name])
def test_light_work_is_delegated_where_images_lie_channels_last(name: str) -> None:
    x = torch.randn(LARGE).to(memory_format=torch.channels_last)
    assert len(graphs(lowered(x, *LIGHT[name]))) == 1


BEFORE_A_RESHAPE: dict[str, tuple[tuple[int, ...], Function]] = {
    "avg_pool2d": (IMAGE, nn.AvgPool2d(2)),
    "convolution": (IMAGE, nn.Conv2d(4, 4, 3)),
    "group_norm": (IMAGE, nn.GroupNorm(1, 4)),
    "max_pool2d": (IMAGE, nn.MaxPool2d(2)),
    "max_pool3d": ((1, 4, 6, 6, 6), nn.MaxPool3d(2)),
    "mean": (IMAGE, lambda x: x.mean((2, 3), keepdim=True)),
    "permute": (IMAGE, lambda x: x.permute(0, 2, 3, 1)),
    "softmax of channels": (IMAGE, lambda x: x.softmax(1)),
    "upsample_bilinear2d": (IMAGE, nn.UpsamplingBilinear2d(scale_factor=2)),
    "upsample_nearest2d": (IMAGE, nn.Upsample(scale_factor=2)),
}


@pytest.mark.parametrize("name", BEFORE_A_RESHAPE)
def test_a_reshape_of_what_may_lie_channels_last_stays_inside(name: str) -> None:
    """There it may need no transpose; of other values it shares memory outside."""
    shape, function = BEFORE_A_RESHAPE[name]
    x = torch.randn(shape)

    def reshapes(*functions: Function) -> int:
        manager = lowered(x, *functions, lambda y: y.flatten(1), lambda y: y.cumsum(1))
        return sum("view" in name for name in outside(manager))

    assert reshapes(torch.tanh, function) == 0
    assert reshapes(torch.tanh) == 1
