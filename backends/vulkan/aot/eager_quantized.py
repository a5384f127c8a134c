# SPDX-License-Identifier: BSD-3-Clause
"""What the quantized operators of et_vk compute: exactly on what is stored, then once rounded to the nearest even.
Numbers are multiplied by the inverse of a scale, as PyTorch and torchao do: a quotient falls otherwise near ties."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from executorch.backends.vulkan.aot.packing import from_nibbles, nibbles


def _quantized(x: Tensor, scale: float, zero_point: int) -> Tensor:
    return torch.clamp(torch.round(x * (1 / scale)) + zero_point, -128, 127).to(torch.int8)


def _dequantized(q: Tensor, scale: float, zero_point: int) -> Tensor:
    return (q.float() - zero_point) * scale


def _activated(x: Tensor, activation: str) -> Tensor:
    return torch.relu(x) if activation == "relu" else x


# ---- Linear ----


def linear_qcs4w(x: Tensor, weight: Tensor, scales: Tensor) -> Tensor:
    """uint8 [N, K/2], the even one in the high half."""
    columns = from_nibbles(weight, low_first=False)[:, : x.shape[-1]]
    rows = columns.shape[0]
    return functional.linear(x, columns.to(x.dtype) * scales[:rows].unsqueeze(1).to(x.dtype))


def grouped_weights(weights: Tensor, scales: Tensor, group_size: int) -> Tensor:
    """Floats [N, K] of uint8 [N, K'/2], the even one in the low half, and scales [K/g, N']."""
    rows, columns = weights.shape[0], scales.shape[0] * group_size
    whole = from_nibbles(weights, low_first=True)[:, :columns]
    return whole.to(scales.dtype) * scales[:, :rows].t().repeat_interleave(group_size, dim=1)


def _cut(bias: Tensor | None, rows: int) -> Tensor | None:
    return None if bias is None else bias[:rows]


def linear_q4gsw(
    x: Tensor, weights: Tensor, weight_scales: Tensor, group_size: int, bias: Tensor | None = None
) -> Tensor:
    weight = grouped_weights(weights, weight_scales, group_size)[:, : x.shape[-1]]
    return functional.linear(x, weight.to(x.dtype), _cut(bias, weights.shape[0]))


def linear_q4gsw_backward(
    d_out: Tensor, weights: Tensor, weight_scales: Tensor, group_size: int
) -> Tensor:
    return d_out @ grouped_weights(weights, weight_scales, group_size).to(d_out.dtype)


def linear_dq8ca_q4gsw(
    x: Tensor,
    input_scales: Tensor,
    input_zp: Tensor,
    weights: Tensor,
    weight_sums: Tensor,
    weight_scales: Tensor,
    group_size: int,
    bias: Tensor | None = None,
) -> Tensor:
    """Rows of x are quantized by the scale and zero point of each."""
    scales = input_scales.reshape(*x.shape[:-1], 1).to(torch.float32)
    points = input_zp.reshape(*x.shape[:-1], 1).to(torch.float32)
    stored = torch.clamp(torch.round(x.float() * (1 / scales)) + points, -128, 127)
    weight = grouped_weights(weights, weight_scales, group_size)[:, : x.shape[-1]].float()
    found = functional.linear((stored - points) * scales, weight, _cut(bias, weights.shape[0]))
    return found.to(x.dtype)


def linear_q8ta_q8csw(
    x: Tensor,
    input_scale: float,
    input_zero_point: int,
    weights: Tensor,
    weight_sums: Tensor,
    weight_scales: Tensor,
    bias: Tensor | None = None,
) -> Tensor:
    """`x` is quantized, or floats that are quantized here."""
    stored = x if x.dtype == torch.int8 else _quantized(x, input_scale, input_zero_point)
    rows = weights.shape[0]
    columns = weights[:, : x.shape[-1]].float()
    sums = functional.linear(stored.float() - input_zero_point, columns)
    found = sums * (input_scale * weight_scales[:rows].float())
    return found if bias is None else found + bias[:rows]


def q8ta_linear(
    x: Tensor,
    input_scale: float,
    input_zero_point: int,
    weights: Tensor,
    weight_sums: Tensor,
    weight_scales: Tensor,
    output_scale: float,
    output_zero_point: int,
    bias: Tensor | None = None,
    activation: str = "none",
) -> Tensor:
    found = linear_q8ta_q8csw(
        x, input_scale, input_zero_point, weights, weight_sums, weight_scales, bias
    )
    return _quantized(_activated(found, activation), output_scale, output_zero_point)


# ---- Convolution ----


def _filters(weights: Tensor, channels: int, kernel_size: list[int]) -> Tensor:
    """int8 [OC, channels, H, W] of rows (packing.rows_of_filters)."""
    height, width = kernel_size
    rows = weights[:, : height * width * channels]
    return rows.unflatten(1, (height, width, channels)).permute(0, 3, 1, 2)


def _finished(
    found: Tensor, scale: Tensor, bias: Tensor | None, out: tuple[float, int], activation: str
) -> Tensor:
    channels = found.shape[1]
    found = found * scale[:channels].float().view(-1, 1, 1)
    if bias is not None:
        found = found + bias[:channels].view(-1, 1, 1)
    return _quantized(_activated(found, activation), *out)


def q8ta_conv2d(
    x, input_scale, input_zero_point, weights, weight_sums, weight_scales, output_scale, output_zero_point, bias,
    kernel_size, stride, padding, dilation, groups, activation,
):  # fmt: skip
    filters = _filters(weights, x.shape[1] // groups, kernel_size).float()
    centred = x.float() - input_zero_point  # what is padded is 0
    found = functional.conv2d(centred, filters, None, stride, padding, dilation, groups)
    out = (output_scale, output_zero_point)
    return _finished(found, input_scale * weight_scales, bias, out, activation)


def q8ta_conv2d_dw(
    x, input_scale, input_zero_point, weights, weight_sums, weight_scales, output_scale, output_zero_point, bias,
    kernel_size, stride, padding, dilation, groups, activation,
):  # fmt: skip
    filters = weights.permute(2, 0, 1).unsqueeze(1).float()
    centred = x.float() - input_zero_point
    found = functional.conv2d(centred, filters, None, stride, padding, dilation, groups)
    out = (output_scale, output_zero_point)
    return _finished(found, input_scale * weight_scales, bias, out, activation)


def q8ta_conv2d_transposed(
    x, input_scale, input_zero_point, weights, weight_sums, weight_scales, output_scale, output_zero_point, bias,
    kernel_size, stride, padding, output_padding, dilation, groups, activation,
):  # fmt: skip
    rows = _filters(weights, x.shape[1] // groups, kernel_size).float()
    filters = torch.cat([part.transpose(0, 1) for part in rows.chunk(groups)])
    centred = x.float() - input_zero_point
    found = functional.conv_transpose2d(
        centred, filters, None, stride, padding, output_padding, groups, dilation
    )
    out = (output_scale, output_zero_point)
    return _finished(found, input_scale * weight_scales, bias, out, activation)


# ---- Elementwise and rows of tables ----


def q8ta_add(
    a: Tensor, b: Tensor, a_scale: float, a_point: int, b_scale: float, b_point: int, scale: float, point: int,
    alpha: float,
) -> Tensor:  # fmt: skip
    found = _dequantized(a, a_scale, a_point) + alpha * _dequantized(b, b_scale, b_point)
    return _quantized(found, scale, point)


def q8ta_relu(x: Tensor, input_scale: float, input_point: int, scale: float, point: int) -> Tensor:
    return _quantized(torch.relu(_dequantized(x, input_scale, input_point)), scale, point)


def q8ta_pixel_shuffle(
    x: Tensor, input_scale: float, input_point: int, inverse_scale: float, point: int, factor: int
) -> Tensor:
    found = _dequantized(functional.pixel_shuffle(x.float(), factor), input_scale, input_point)
    return torch.clamp(torch.round(found * inverse_scale) + point, -128, 127).to(torch.int8)


def embedding_q4gsw(
    weight: Tensor,
    weight_scales: Tensor,
    group_size: int,
    indices: Tensor,
    is_linear_weight: bool = False,
) -> Tensor:
    stored = from_nibbles(weight, low_first=is_linear_weight)
    table = stored.to(weight_scales.dtype) * weight_scales.repeat_interleave(group_size, dim=1)
    return functional.embedding(indices, table)


def q4gsw_requant(latent: Tensor, scales: Tensor, group_size: int) -> Tensor:
    wide = scales[:, : latent.shape[0]].t().repeat_interleave(group_size, dim=1)
    stored = torch.clamp(torch.round(latent / wide[:, : latent.shape[1]]), -8, 7).to(torch.int8)
    return nibbles(stored, low_first=True, multiple=2)
