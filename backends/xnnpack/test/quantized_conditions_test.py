# SPDX-License-Identifier: BSD-3-Clause
"""What keeps a call from computing on 8-bit values: parameters that XNNPACK's kernels do not have. It computes on
floats then, and gives what eager does."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.backends.xnnpack.test.lowering_test import graphs
from executorch.backends.xnnpack.test.needs_runtime import needs_runtime
from executorch.exir import EdgeProgramManager, to_edge_transform_and_lower
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

QD = torch.ops.quantized_decomposed
INT8 = (-128, 127, torch.int8)


@dataclass(frozen=True)
class Values:
    """Of an activation."""

    scale: float = 0.05
    point: int = 3
    limits: tuple[int, int, torch.dtype] = INT8

    def rounded(self, x: Tensor) -> Tensor:
        stored = QD.quantize_per_tensor(x, self.scale, self.point, *self.limits)
        return QD.dequantize_per_tensor(stored, self.scale, self.point, *self.limits)


@dataclass(frozen=True)
class Weights:
    """Of a weight, by channel of `axis`, or of all of it."""

    axis: int | None = 0
    point: int = 0
    first_scale: float = 0.01
    limits: tuple[int, int, torch.dtype] = (-127, 127, torch.int8)


@dataclass(frozen=True)
class Layer:
    source: Values = Values()
    result: Values = Values(0.1, -7)
    weights: Weights = Weights()
    behind: Callable[[Tensor], Tensor] = lambda x: x


class Quantized(nn.Module):
    """A linear layer, or a convolution of its weight."""

    def __init__(self, layer: Layer, is_conv: bool) -> None:
        super().__init__()
        self.layer, self.is_conv = layer, is_conv
        shape = (4, 6, 1, 1) if is_conv else (4, 6)
        data = torch.linspace(-60, 60, 24).round().reshape(shape)
        self.register_buffer("weight", data.to(layer.weights.limits[2]))
        count = 1 if layer.weights.axis is None else shape[layer.weights.axis]
        self.register_buffer("scales", torch.full((count,), layer.weights.first_scale))
        self.scales[1:] = 0.02
        self.register_buffer("points", torch.full((count,), layer.weights.point))

    def forward(self, x: Tensor) -> Tensor:
        weights = self.layer.weights
        if weights.axis is None:
            made = QD.dequantize_per_tensor(
                self.weight, weights.first_scale, weights.point, *weights.limits
            )
        else:
            made = QD.dequantize_per_channel(
                self.weight, self.scales, self.points, weights.axis, *weights.limits
            )
        x = self.layer.source.rounded(x)
        x = F.conv2d(x, made) if self.is_conv else F.linear(x, made)
        return self.layer.result.rounded(self.layer.behind(x))


def lowered(module: nn.Module, *inputs: Tensor) -> EdgeProgramManager:
    exported = torch.export.export(module, inputs)
    return to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])


def computes_in_int8(manager: EdgeProgramManager) -> bool:
    """Whether what is no conversion writes bytes."""
    for graph in graphs(manager):
        for node in graph.xnodes:
            union = graph.xvalues[node.xnode_union.output_id].xvalue_union
            is_stored = type(union).__name__ == "XNNQuantizedTensorValue"
            if is_stored and type(node.xnode_union).__name__ in _COMPUTES:
                return True
    return False


_COMPUTES = {"XNNFullyConnected", "XNNConv2d", "XNNAdd", "XNNMultiply"}


def check_numbers(
    manager: EdgeProgramManager, module: nn.Module, step: float, *inputs: Tensor
) -> None:
    """Within a step of the result, where sums round to another side."""
    found = _load_for_executorch_from_buffer(manager.to_executorch().buffer).forward(inputs)[0]
    torch.testing.assert_close(found, module(*inputs), rtol=1e-5, atol=step * 1.01)


_W = Weights()
UNDELEGATED = {
    "zero points by channel": Layer(weights=replace(_W, point=2)),
    "a zero point": Layer(weights=replace(_W, axis=None, point=2)),
    "a scale of 0": Layer(weights=replace(_W, first_scale=0.0)),
    "a negative scale": Layer(weights=replace(_W, first_scale=-0.01)),
    "scales of input channels": Layer(weights=replace(_W, axis=1)),
    "unsigned weights": Layer(weights=replace(_W, limits=(0, 255, torch.uint8))),
    "a narrower range of inputs": Layer(Values(limits=(-127, 127, torch.int8))),
    "a narrower range of results": Layer(result=Values(limits=(-128, 126, torch.int8))),
    "unsigned inputs": Layer(Values(limits=(0, 255, torch.uint8))),
    "a ratio of scales of 257": Layer(Values(scale=2.0), Values(0.02 * 2.0 / 257)),
    "limits without values between": Layer(behind=lambda x: torch.clamp(x, 0.01, 0.02)),
}


@needs_runtime
@pytest.mark.parametrize("is_conv", [False, True], ids=["linear", "convolution"])
@pytest.mark.parametrize("name", UNDELEGATED)
def test_parameters_without_kernels_are_computed_on_floats(name: str, is_conv: bool) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 6, 3, 3) if is_conv else torch.randn(5, 6)
    module = Quantized(UNDELEGATED[name], is_conv)
    manager = lowered(module, x)
    assert not computes_in_int8(manager)
    check_numbers(manager, module, UNDELEGATED[name].result.scale, x)


@needs_runtime
@pytest.mark.parametrize("is_conv", [False, True], ids=["linear", "convolution"])
@pytest.mark.parametrize(
    "layer",
    [Layer(), Layer(weights=replace(_W, axis=None)), Layer(behind=torch.relu)],
    ids=["by channel", "of all", "relu"],
)
def test_others_are_computed_in_int8(layer: Layer, is_conv: bool) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 6, 3, 3) if is_conv else torch.randn(5, 6)
    module = Quantized(layer, is_conv)
    manager = lowered(module, x)
    assert computes_in_int8(manager)
    check_numbers(manager, module, layer.result.scale, x)


class Binary(nn.Module):
    def __init__(self, function: Callable[..., Tensor], result: Values) -> None:
        super().__init__()
        self.function, self.result = function, result

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return self.result.rounded(self.function(Values().rounded(x), Values(0.04, -1).rounded(y)))


@needs_runtime
@pytest.mark.parametrize(
    ("function", "result"),
    [
        (lambda x, y: torch.add(x, y, alpha=2), Values(0.1)),
        (lambda x, y: torch.add(x, y), Values(0.04 / 256)),
        (lambda x, y: torch.add(x, y), Values(0.05 * 2**11)),
        (lambda x, y: x * y, Values(0.05 * 0.04 * 2**17)),
    ],
    ids=["alpha", "a scale of 1/256", "a scale of 2048", "a scale of 2^17"],
)
def test_arithmetic_beyond_the_kernels_is_exact(
    function: Callable[..., Tensor], result: Values
) -> None:
    x, y = torch.randn(5, 7), torch.randn(5, 7)
    module = Binary(function, result)
    manager = lowered(module, x, y)
    assert not computes_in_int8(manager)
    check_numbers(manager, module, result.scale, x, y)


@needs_runtime
@pytest.mark.parametrize("function", [torch.add, torch.mul], ids=["add", "mul"])
def test_arithmetic_within_the_kernels_is_in_int8(function: Callable[..., Tensor]) -> None:
    x, y = torch.randn(5, 7), torch.randn(5, 7)
    module = Binary(function, Values(0.06))
    manager = lowered(module, x, y)
    assert computes_in_int8(manager)
    check_numbers(manager, module, 0.06, x, y)


@needs_runtime
@pytest.mark.parametrize("scale", [0.0, -0.1])
def test_activations_of_no_scale_stay_outside(scale: float) -> None:
    """XNNPACK refuses a program with one when it is loaded."""

    class Model(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return QD.dequantize_per_tensor(x.to(torch.int8), scale, 0, *INT8) * 2 + 1

    x = torch.randn(5, 7) * 9
    manager = lowered(Model(), x)
    check_numbers(manager, Model(), 0.0, x)


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (Layer(Values(float("nan"))), "Scales must be finite and normal"),
        (Layer(Values(1e-41)), "Scales must be finite and normal"),
        (Layer(Values(point=200)), "Found invalid zeropoint"),
        (Layer(weights=replace(_W, first_scale=float("inf"))), "at index 0"),
        (Layer(weights=replace(_W, point=300)), "a zero point of 300 at index 0"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(layer: Layer, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lowered(Quantized(layer, False), torch.randn(5, 6))


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        (None, "have scale 1 and zero point 0, as of an observer that saw no values"),
        (1e-3, "the least scale of an observer: calibration saw no range beyond 0.0623"),
        (1.0, ""),
    ],
    ids=["nothing", "small", "right"],
)
def test_a_missing_calibration_is_said(factor: float | None, message: str) -> None:
    torch.manual_seed(0)
    x = (torch.randn(9, 8),)
    module = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4)).eval()
    # Channels whose scales an observer never saw are refused: there is one scale for all of them.
    config = get_symmetric_quantization_config(is_per_channel=factor is not None)
    prepared = prepare_pt2e(
        torch.export.export(module, x).module(), XNNPACKQuantizer().set_global(config)
    )
    if factor is not None:
        prepared(x[0] * factor)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lowered(convert_pt2e(prepared), *x)
    texts = [str(each.message) for each in caught if "range of their own" in str(each.message)]
    assert len(texts) == bool(message) and all(message in each for each in texts)
