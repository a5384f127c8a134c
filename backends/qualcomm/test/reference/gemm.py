# SPDX-License-Identifier: BSD-3-Clause
"""Convolutions, fully connected and matmul: exact sums of products of integers, scaled once."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from executorch.backends.qualcomm.test.reference.quantized_values import Factored
from executorch.backends.qualcomm.test.reference.row import Row, flag, u32, u32s


def padding_of(pad_amount: list[list[int]]) -> list[int]:
    """As PyTorch has it: of the last dimension first."""
    return [each for pair in reversed(pad_amount) for each in pair]


def _scaled(product: torch.Tensor, x: Factored, weight: Factored, bias=None) -> torch.Tensor:
    """Channels are last in `product`."""
    result = product * (x.scale * weight.scale)
    if bias is None:
        return result
    if bias.shape != product.shape[-1:]:
        raise ValueError(f"a bias of {tuple(bias.shape)} for {product.shape[-1]} channels")
    return result + bias


def _conv(x: Factored, weight: Factored, bias=None, *, stride, pad_amount, dilation, group=1):
    """Of NHWC or NDHWC by HWIO or DHWIO."""
    spatial = len(stride)
    convolve = {2: F.conv2d, 3: F.conv3d}[spatial]
    padded = F.pad(x.values.movedim(-1, 1), padding_of(pad_amount))
    filters = weight.values.permute(spatial + 1, spatial, *range(spatial))
    product = convolve(padded, filters, None, stride, 0, dilation, group)
    return _scaled(product.movedim(1, -1), x, weight, bias)


def _depthwise(x: Factored, weight: Factored, bias=None, **parameters):
    return _conv(x, weight, bias, group=x.values.shape[-1], **parameters)


def _transposed(
    x: Factored,
    weight: Factored,
    bias=None,
    *,
    stride,
    pad_amount,
    group,
    output_padding,
    dilation=1,
):
    """Filters are HWIO, O of one group. What pad_amount says is cut off; output_padding is kept behind."""
    spatial = len(stride)
    if group > 1 and torch.is_tensor(weight.scale) and weight.scale.numel() > 1:
        weight = Factored(weight.values, weight.scale.repeat(group))
    convolve = {2: F.conv_transpose2d, 3: F.conv_transpose3d}[spatial]
    filters = weight.values.permute(spatial, spatial + 1, *range(spatial))
    full = convolve(x.values.movedim(-1, 1), filters, None, stride, 0, 0, group, dilation)
    edges = [
        [-before, more - after]
        for (before, after), more in zip(pad_amount, output_padding, strict=True)
    ]
    return _scaled(F.pad(full, padding_of(edges)).movedim(1, -1), x, weight, bias)


def _fully_connected(x: Factored, weight: Factored, bias=None, *, keep_dims):
    """Rows of `weight` are outputs; inputs of more dimensions than two become rows of a matrix."""
    rows = x.values if keep_dims else x.values.reshape(-1, weight.values.shape[1])
    return _scaled(F.linear(rows, weight.values), x, weight, bias)


def _matmul(x: Factored, y: Factored, bias=None, *, transpose_in0, transpose_in1):
    left = x.values.mT if transpose_in0 else x.values
    right = y.values.mT if transpose_in1 else y.values
    return _scaled(left @ right, x, y, bias)


def _convolution(spatial: int, function, **more) -> Row:
    parameters = {"stride": u32s(spatial), "pad_amount": u32s(spatial, 2), **more}
    return Row(function, (2, 3), parameters, factored_axes=(-1, -1))


def _ones(spatial: int):
    return u32s(spatial, default=[1] * spatial)


def _zeros(spatial: int):
    return u32s(spatial, default=[0] * spatial)


ROWS = {
    "Conv2d": _convolution(2, _conv, dilation=_ones(2), group=u32(1)),
    "Conv3d": _convolution(3, _conv, dilation=_ones(3), group=u32(1)),
    "DepthWiseConv2d": _convolution(2, _depthwise, dilation=_ones(2)),
    "TransposeConv2d": _convolution(2, _transposed, group=u32(1), output_padding=_zeros(2)),
    "TransposeConv3d": _convolution(
        3, _transposed, group=u32(1), output_padding=_zeros(3), dilation=_ones(3)
    ),
    "FullyConnected": Row(
        _fully_connected, (2, 3), {"keep_dims": flag(False)}, factored_axes=(-1, 0)
    ),
    "MatMul": Row(
        _matmul,
        (2, 3),
        {"transpose_in0": flag(False), "transpose_in1": flag(False)},
        factored_axes=(-1, -1),
    ),
}
