# SPDX-License-Identifier: BSD-3-Clause
"""`torch.ops.cadence`: the operators of functions.yaml as formulas. The kernels give the same bits.

Stored values are int8, uint8 or int16. Sums of products are whole numbers, exact up to int32; what they become is
computed in float32, ties to even."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from executorch.exir.backend.lowering.kernel_library import KernelLibrary

LIBRARY = KernelLibrary("cadence", Path(__file__).parents[1] / "functions.yaml")


def _float32(value: float) -> Tensor:
    return torch.tensor(value, dtype=torch.float32)


def _stored(values: Tensor, factor: Tensor, zero_point: int, limits: tuple[int, int]) -> Tensor:
    """`factor`: the reciprocal of a scale. NaN is the least of the limits."""
    steps = torch.round(values.float() * factor) + zero_point
    return torch.where(steps > limits[0], steps.clamp(max=limits[1]), limits[0])


def _as_dtype(values: Tensor, factor: Tensor, zero_point: int, dtype: torch.dtype) -> Tensor:
    info = torch.iinfo(dtype)
    return _stored(values, factor, zero_point, (info.min, info.max)).to(dtype)


def _scale(multiplier: int, shift: int) -> Tensor:
    """multiplier * 2^(shift - 31)."""
    return _float32(multiplier * 2.0 ** (shift - 31))


def _without(zero_point: int, stored: Tensor) -> Tensor:
    """In float64, whose sums of such products are exact."""
    return stored.double() - zero_point


# ---- float32 and back ----


@LIBRARY.implement("quantize_per_tensor")
def quantize_per_tensor(
    input: Tensor,
    scale: float,
    zero_point: int,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
) -> Tensor:
    return _stored(input, 1.0 / _float32(scale), zero_point, (quant_min, quant_max)).to(dtype)


@LIBRARY.implement("dequantize_per_tensor")
def dequantize_per_tensor(
    input: Tensor,
    scale: float,
    zero_point: int,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
) -> Tensor:
    return (input.int() - zero_point).float() * _float32(scale)


# ---- Sums of products ----


@LIBRARY.implement("quantized_linear.per_tensor")
def quantized_linear(
    src: Tensor,
    weight: Tensor,
    bias: Tensor,
    src_zero_point: int,
    weight_zero_point: int,
    out_multiplier: int,
    out_shift: int,
    out_zero_point: int,
    offset: Tensor | None,
) -> Tensor:
    sums = F.linear(
        _without(src_zero_point, src), _without(weight_zero_point, weight), bias.double()
    )
    return _as_dtype(sums, _scale(out_multiplier, out_shift), out_zero_point, src.dtype)


def _conv(
    input: Tensor,
    weight: Tensor,
    bias: Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    input_zero_point: int,
    weight_zero_point: int,
    bias_scale: float,
    out_scale: float,
    out_zero_point: int,
    out_multiplier: int,
    out_shift: int,
) -> Tensor:
    """By the scales; multiplier and shift say the same and are not read. Padding is the value 0."""
    convolve = F.conv1d if input.dim() == 3 else F.conv2d
    values, weights = _without(input_zero_point, input), _without(weight_zero_point, weight)
    sums = convolve(values, weights, bias.double(), stride, padding, dilation, groups)
    scaled = sums.float() * _float32(bias_scale)
    return _as_dtype(scaled, 1.0 / _float32(out_scale), out_zero_point, input.dtype)


quantized_conv1d_ncl = LIBRARY.implement("quantized_conv1d_ncl.per_tensor")(_conv)
quantized_conv2d_nchw = LIBRARY.implement("quantized_conv2d_nchw.per_tensor")(_conv)


# ---- By element ----


@LIBRARY.implement("quantized_relu.per_tensor")
def quantized_relu(
    X: Tensor, X_zero_point: int, out_zero_point: int, out_multiplier: int, out_shift: int
) -> Tensor:
    above = torch.relu(X.int() - X_zero_point)
    return _as_dtype(above, _scale(out_multiplier, out_shift), out_zero_point, X.dtype)
