# SPDX-License-Identifier: BSD-3-Clause
"""Convolutions of one, two and three dimensions, channels first or last; of stored values, and of floats."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from executorch.backends.cadence.aot.operators.library import LIBRARY
from executorch.exir.backend.lowering.kernels.formulas import (
    Number,
    by_scale,
    float32,
    subtract_zero_point,
)

_8_BITS = ("asym8sxsym8s_asym8s", "asym8uxsym8u_asym8u")


def _of_8_bits(name: str) -> list[str]:
    return [
        f"{name}{each}_{kind}.per_tensor"
        for each in ("", "_depthwise", "_dilated")
        for kind in _8_BITS
    ]


def _convolve(
    input: Tensor,
    weight: Tensor,
    bias: Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Tensor:
    rank = input.dim() - 2
    # an operator of its own would see the backend's sizes where they are lists of one
    lists = (_of_rank(each, rank) for each in (stride, padding, dilation))
    return torch.convolution(input, weight, bias, *lists, False, [0] * rank, groups)


def _of_rank(values: Sequence[int], rank: int) -> list[int]:
    return list(values) * (rank // len(values))


conv = LIBRARY.implement("conv1d", "conv2d", "conv3d")(_convolve)


@LIBRARY.implement(
    "quantized_conv1d_ncl",
    "quantized_conv1d_ncl.per_tensor",
    "quantized_depthwise_conv1d_ncl.per_tensor",
    "quantized_conv2d_nchw",
    "quantized_conv2d_nchw.per_tensor",
    *_of_8_bits("quantized_conv2d_nchw"),
)
def quantized_conv_nchw(
    input: Tensor,
    weight: Tensor,
    bias: Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    input_zero_point: int,
    weight_zero_point: Number,
    bias_scale: Number,
    out_scale: float,
    out_zero_point: int,
    out_multiplier: Number,
    out_shift: Number,
) -> Tensor:
    """By the scales; multiplier and shift say the same and are not read. Padding is the value 0."""
    values, weights = (
        subtract_zero_point(input_zero_point, input),
        subtract_zero_point(_first(weight_zero_point), weight),
    )
    sums = _convolve(values, weights, bias.double(), stride, padding, dilation, groups)
    return _stored(sums, bias_scale, out_scale, out_zero_point, input.dtype)


def _stored(
    sums: Tensor, bias_scale: Number, out_scale: float, out_zero_point: int, dtype: torch.dtype
) -> Tensor:
    return by_scale(sums.float() * float32(_first(bias_scale)), out_scale, out_zero_point, dtype)


def _first(value: Number) -> Number:
    return value.reshape(-1)[0] if isinstance(value, Tensor) else value


@LIBRARY.implement(
    "quantized_conv1d_nlc",
    "quantized_conv1d_nlc.per_tensor",
    "quantized_depthwise_conv1d_nlc.per_tensor",
    "quantized_conv2d_nhwc",
    "quantized_conv2d_nhwc.per_tensor",
    "quantized_conv2d_depthwise_nhwc",
    *_of_8_bits("quantized_conv2d_nhwc"),
)
def quantized_conv_nhwc(
    input: Tensor, weight: Tensor, bias: Tensor, *numbers: object, offset: Tensor | None = None
) -> Tensor:
    """Weights [outputs, kernel, inputs of a group]; of a depthwise one also [kernel, outputs]. `offset` is not read."""
    if weight.dim() < input.dim():
        weight = weight.movedim(-1, 0).unsqueeze(-1)
    arguments = numbers[:11]  # behind them, where it is given by place, stands the offset
    made = quantized_conv_nchw(input.movedim(-1, 1), weight.movedim(-1, 1), bias, *arguments)
    return made.movedim(1, -1).contiguous()


# ---- Transposed: as weights [outputs of a group, inputs, kernel], turned round ----


@LIBRARY.implement("transposed_convolution")
def transposed_convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    output_padding: Sequence[int],
    groups: int,
    channel_last: bool = False,
) -> Tensor:
    if channel_last:
        input, weight = input.movedim(-1, 1), weight.movedim(-1, 1)
    kernel = weight.flip(list(range(2, weight.dim())))
    rank = input.dim() - 2
    lists = (_of_rank(each, rank) for each in (stride, padding, dilation))
    made = torch.convolution(
        input, kernel.transpose(0, 1), bias, *lists, True, _of_rank(output_padding, rank), groups
    )
    return made.movedim(1, -1).contiguous() if channel_last else made


@LIBRARY.implement("quantized_transposed_conv")
def quantized_transposed_conv(
    input: Tensor,
    weight: Tensor,
    bias: Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    output_padding: Sequence[int],
    groups: int,
    input_zero_point: int,
    weight_zero_point: Tensor,
    bias_scale: Tensor,
    out_scale: float,
    out_zero_point: int,
    out_multiplier: Tensor,
    out_shift: Tensor,
    channel_last: bool = False,
) -> Tensor:
    values, weights = (
        subtract_zero_point(input_zero_point, input),
        subtract_zero_point(_first(weight_zero_point), weight),
    )
    sums = transposed_convolution(
        values, weights, bias.double(), stride, padding, dilation, output_padding, groups, channel_last
    )  # fmt: skip
    return _stored(sums, bias_scale, out_scale, out_zero_point, input.dtype)
