# SPDX-License-Identifier: BSD-3-Clause
"""The hook of backends/test/conformance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from executorch.backends.cadence.aot.ops_registrations import LIBRARY
from executorch.backends.cadence.test.drawn import arguments
from executorch.backends.test.conformance.backend import KernelBackend
from executorch.backends.test.corpus.row import Row, row

_Q = torch.ops.quantized_decomposed
_INT8 = (-128, 127, torch.int8)
_INT32 = (-(2**31), 2**31 - 1, torch.int32)
_X, _W, _Y = (0.1, 3), (0.05, 0), (0.2, -7)
# What the passes write; programs call the others by name.
_WRITTEN = {
    "quantize_per_tensor",
    "dequantize_per_tensor",
    "quantized_linear.per_tensor",
    "quantized_conv1d_ncl.per_tensor",
    "quantized_conv2d_nchw.per_tensor",
    "quantized_depthwise_conv1d_ncl.per_tensor",
    "quantized_relu.per_tensor",
    "quantized_add.per_tensor",
    "quantized_matmul",
    "quantized_max_pool2d_nchw",
    "quantized_layer_norm.per_tensor",
    "quantized_softmax.per_tensor",
    "quantized_w8a32_linear",
    "requantize.per_tensor",
}


def int8(*sizes: int) -> Tensor:
    return torch.randint(-128, 128, sizes, dtype=torch.int8)


class WithWeights(torch.nn.Module):
    """An operator of int8 with a bias of int32."""

    def __init__(self, compute: Callable[..., Tensor], *sizes: int) -> None:
        super().__init__()
        self.compute = compute
        self.register_buffer("weight", int8(*sizes))
        self.register_buffer("bias", torch.arange(sizes[0], dtype=torch.int32) * 50)

    def forward(self, x: Tensor) -> Tensor:
        values = _Q.dequantize_per_tensor(x, *_X, *_INT8)
        weight = _Q.dequantize_per_tensor(self.weight, *_W, *_INT8)
        bias = _Q.dequantize_per_tensor(self.bias, _X[0] * _W[0], 0, *_INT32)
        return _Q.quantize_per_tensor(self.compute(values, weight, bias), *_Y, *_INT8)


def with_weights(name: str, compute: Callable[..., Tensor], x: Tensor, *weights: int) -> Row:
    return row(name, WithWeights(compute, *weights), x)


def stored(compute: Callable[..., Tensor], made: tuple[float, int] = _Y) -> Callable[..., Tensor]:
    """Of int8, by floats, as int8."""

    def run(*operands: Tensor) -> Tensor:
        values = [_Q.dequantize_per_tensor(each, *_X, *_INT8) for each in operands]
        return _Q.quantize_per_tensor(compute(*values), *made, *_INT8)

    return run


class WeightOnly(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weight", int8(4, 8))
        self.bias = torch.nn.Parameter(torch.arange(-3.0, 1.0) * 0.5)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, _Q.dequantize_per_tensor(self.weight, *_W, *_INT8), self.bias)


def from_float(x: Tensor) -> Tensor:
    return _Q.quantize_per_tensor(x, *_X, *_INT8)


def to_float(x: Tensor) -> Tensor:
    return _Q.dequantize_per_tensor(x, *_X, *_INT8)


def depthwise(*values: Any) -> Tensor:
    return F.conv1d(*values, padding=1, groups=4)


def strided(*values: Any) -> Tensor:
    return F.conv2d(*values, stride=(2, 1), padding=(0, 1), groups=2)


ROWS = (
    row("a relu of int8", stored(F.relu, (0.05, -128)), int8(4, 5)),
    row("a sum of int8", stored(torch.add), int8(4, 5), int8(5)),
    row(
        "a sum and a relu of int8",
        stored(lambda x, y: F.relu(x + y), (0.05, -128)),
        int8(4),
        int8(4),
    ),
    row("a matmul of int8", stored(torch.bmm, (2.0, 3)), int8(2, 3, 8), int8(2, 8, 4)),
    row("the largest of int8", stored(lambda x: F.max_pool2d(x, 3, 2, 1), _X), int8(2, 3, 8, 6)),
    row("a layer norm of int8", stored(lambda x: F.layer_norm(x, (9,)), (0.03, 1)), int8(3, 9)),
    row("a softmax of int8", stored(lambda x: x.softmax(-1), (1 / 256, -128)), int8(3, 16)),
    row("another scale", stored(lambda x: x), int8(3, 5)),
    row(
        "a turned image of int8",
        lambda x: to_float(x).permute(0, 2, 1).reshape(2, 6),
        int8(2, 2, 3),
    ),
    row("int8 weights", WeightOnly(), torch.randn(3, 1, 8), tolerance=0.02),
    row("a float32 as int8", from_float, torch.randn(3, 4) * 20),
    row("an int8 as float32", to_float, int8(3, 4)),
    with_weights("a linear of int8", F.linear, int8(4, 6), 3, 6),
    with_weights("a convolution of one dimension", F.conv1d, int8(2, 3, 9), 4, 3, 3),
    with_weights("a depthwise convolution", depthwise, int8(1, 4, 9), 4, 1, 3),
    with_weights("a convolution of two dimensions", strided, int8(2, 4, 7, 6), 6, 2, 3, 2),
)
KERNELS = [
    KernelBackend(
        "cadence",
        LIBRARY,
        samples={name: arguments(name) for name in LIBRARY.names()},
        rows=ROWS,
        tolerance=2e-5,
        by_name=frozenset(LIBRARY.names()) - _WRITTEN,
    )
]
