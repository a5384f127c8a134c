# SPDX-License-Identifier: BSD-3-Clause
"""Quantized values and the floats that they stand for, as kernels compute them: in float32, ties to even. Whole numbers
are in float64, which has the sums of their products exactly."""

from __future__ import annotations

import torch
from torch import Tensor

Number = float | int | Tensor


def float32(value: Number) -> Tensor:
    """Of a number, or of a tensor of one."""
    return torch.as_tensor(value, dtype=torch.float32)


def subtract_zero_point(zero_point: Number, values: Tensor) -> Tensor:
    """`zero_point`: a number, or a tensor of some."""
    point = zero_point.double() if isinstance(zero_point, Tensor) else zero_point
    return values.double() - point


def real(values: Tensor, scale: Number, zero_point: Number) -> Tensor:
    """What quantized values stand for."""
    return subtract_zero_point(zero_point, values).float() * float32(scale)


def quantized(
    values: Tensor, factor: Tensor, zero_point: Number, limits: tuple[int, int]
) -> Tensor:
    """`factor`: the reciprocal of a scale. NaN is the least of the limits."""
    steps = (torch.round(values.float() * factor) + float32(zero_point)).double()
    return torch.where(steps > limits[0], steps.clamp(max=limits[1]), float(limits[0]))


def as_dtype(values: Tensor, factor: Tensor, zero_point: Number, dtype: torch.dtype) -> Tensor:
    info = torch.iinfo(dtype)
    return quantized(values, factor, zero_point, (info.min, info.max)).to(dtype)


def by_scale(values: Tensor, scale: Number, zero_point: Number, dtype: torch.dtype) -> Tensor:
    return as_dtype(values, 1.0 / float32(scale), zero_point, dtype)


def quantize_per_tensor(
    input: Tensor,
    scale: float,
    zero_point: int,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
) -> Tensor:
    return quantized(input, 1.0 / float32(scale), zero_point, (quant_min, quant_max)).to(dtype)


def dequantize_per_tensor(
    input: Tensor,
    scale: float,
    zero_point: int,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
) -> Tensor:
    """Stored values are within the limits."""
    return real(input, scale, zero_point)
