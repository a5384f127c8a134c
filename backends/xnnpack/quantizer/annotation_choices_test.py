# SPDX-License-Identifier: BSD-3-Clause
"""Which calls the quantizer passes over, and what it takes in their stead: one small model for each choice."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.fx import GraphModule
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)


def converted(model: nn.Module, *inputs: torch.Tensor) -> GraphModule:
    config = get_symmetric_quantization_config(is_per_channel=True)
    captured = torch.export.export(model.eval(), inputs).module()
    prepared = prepare_pt2e(captured, XNNPACKQuantizer().set_global(config))
    prepared(*inputs)
    return convert_pt2e(prepared)


def reads_8_bits(model: GraphModule) -> set[str]:
    """Names of calls of which an input is dequantized."""
    stored = (n for n in model.graph.nodes if "dequantize_per_tensor" in str(n.target))
    return {user.name for node in stored for user in node.users} - {"output"}


class Calls(nn.Module):
    def __init__(self, function: Callable[..., object], **layers: nn.Module) -> None:
        super().__init__()
        self.function = function
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, *inputs: torch.Tensor) -> object:
        return self.function(self, *inputs)


@pytest.mark.parametrize("dtype", [torch.int64, torch.float16, torch.float64])
def test_only_float32_is_quantized(dtype: torch.dtype) -> None:
    model = Calls(lambda self, x, i: (self.layer(x), i + i), layer=nn.Linear(4, 4))
    found = converted(model, torch.randn(2, 4), torch.ones(2, 4).to(dtype))
    assert reads_8_bits(found) == {"linear"}


def test_products_of_two_inputs_stay_float() -> None:
    """A layer's weight is a constant, what it multiplies is none."""
    x, y = torch.randn(2, 4), torch.randn(3, 4)
    assert not reads_8_bits(converted(Calls(lambda self, x, y: F.linear(x, y)), x, y))
    of_constant = Calls(lambda self, x: x + self.layer(self.layer.weight), layer=nn.Linear(4, 4))
    assert "linear" not in reads_8_bits(converted(of_constant, torch.randn(4, 4)))


@pytest.mark.parametrize(
    ("dims", "shape", "taken"),
    [
        ((2, 3), (1, 3, 4, 5), True),
        ((-1, -2), (1, 3, 4, 5), True),
        ((2, 3, 4), (1, 3, 4, 5, 6), True),
        ((3,), (1, 3, 4, 5), False),
        ((1, 2), (1, 3, 4, 5), False),
        ((2,), (1, 3, 4), False),
        ((1,), (3, 4), False),
    ],
)
def test_means_over_images_are_8_bit(
    dims: tuple[int, ...], shape: tuple[int, ...], taken: bool
) -> None:
    found = converted(Calls(lambda self, x: x.mean(dims)), torch.randn(shape))
    assert reads_8_bits(found) == ({"mean"} if taken else set())


@pytest.mark.parametrize(
    ("pool", "shape", "taken"),
    [
        (nn.AdaptiveAvgPool2d(1), (1, 3, 4, 6), True),
        (nn.AdaptiveAvgPool2d(2), (1, 3, 4, 6), False),
        (nn.AdaptiveAvgPool3d(1), (1, 3, 4, 6, 2), True),
        (nn.AdaptiveAvgPool3d((1, 1, 2)), (1, 3, 4, 6, 2), False),
    ],
)
def test_averages_of_whole_images_are_8_bit(
    pool: nn.Module, shape: tuple[int, ...], taken: bool
) -> None:
    assert bool(reads_8_bits(converted(pool, torch.randn(shape)))) == taken


def test_a_sum_before_a_layer_is_8_bit_whatever_comes_behind_the_layer() -> None:
    model = Calls(
        lambda self, x: self.norm(self.last(self.first(x) + x.cos())),
        first=nn.Linear(4, 4),
        last=nn.Linear(4, 4),
        norm=nn.LayerNorm(4),
    )
    found = converted(model, torch.randn(2, 4))
    (node,) = (n for n in found.graph.nodes if n.name == "add")
    assert all("dequantize_per_tensor" in each.name for each in node.args)


def test_a_model_with_branches_is_annotated_around_them() -> None:
    """The graph reads a branch as it reads a weight, by its name."""

    def forward(self: Calls, x: torch.Tensor) -> torch.Tensor:
        chosen = torch.cond(x.sum() > 0, lambda a: a.sin(), lambda a: a.cos(), (self.first(x),))
        return self.last(chosen)

    model = Calls(forward, first=nn.Linear(4, 4), last=nn.Linear(4, 4))
    captured = torch.export.export(model, (torch.randn(2, 4),)).module()
    config = get_symmetric_quantization_config(is_per_channel=True)
    annotated = XNNPACKQuantizer().set_global(config).annotate(captured)
    with_annotation = {n.name for n in annotated.graph.nodes if "quantization_annotation" in n.meta}
    assert {"linear", "linear_1"} <= with_annotation


def test_supported_operators_are_those_of_captured_graphs() -> None:
    """Copies of views are made by decomposition, behind the quantizer."""
    (static, *_) = XNNPACKQuantizer.get_supported_operators()
    names = {str(op) for (op,) in static.operators}
    assert {"aten.view.default", "aten.permute.default", "aten.conv2d.default"} <= names
    assert not [name for name in names if "_copy." in name]
