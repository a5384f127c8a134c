# SPDX-License-Identifier: BSD-3-Clause
"""What looks at several values for one: pools, norms, softmax."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from executorch.backends.cadence.aot.operators.library import LIBRARY
from executorch.exir.backend.lowering.kernels.formulas import (
    Number,
    by_scale,
    float32,
    real,
    subtract_zero_point,
)

# ---- Pools ----


@LIBRARY.implement("quantized_max_pool2d_nchw")
def quantized_max_pool2d_nchw(
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> Tensor:
    pooled = F.max_pool2d(
        input.double(), list(kernel_size), list(stride), list(padding), list(dilation), ceil_mode
    )
    return pooled.to(input.dtype)


@LIBRARY.implement("quantized_max_pool2d_nhwc")
def quantized_max_pool2d_nhwc(input: Tensor, *numbers: object) -> Tensor:
    pooled = quantized_max_pool2d_nchw(input.movedim(-1, 1), *numbers)
    return pooled.movedim(1, -1).contiguous()


@LIBRARY.implement("avg_pool2d")
def avg_pool2d(
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    in_zero_point: Tensor | None = None,
    channel_last: bool = False,
) -> Tensor:
    """Of stored values, padding is the zero point, and the mean is rounded to even."""
    point = 0 if in_zero_point is None else in_zero_point.reshape(-1)[0].double()
    values = (input.movedim(-1, 1) if channel_last else input).double() - point
    pooled = F.avg_pool2d(
        values,
        list(kernel_size),
        list(stride) or None,
        list(padding) or 0,
        ceil_mode,
        count_include_pad,
        divisor_override,
    )
    if not input.dtype.is_floating_point:
        info = torch.iinfo(input.dtype)
        pooled = (torch.round(pooled) + point).clamp(info.min, info.max)
    made = pooled.to(input.dtype)
    return made.movedim(1, -1).contiguous() if channel_last else made


# ---- Norms ----


@LIBRARY.implement("quantized_layer_norm", "quantized_layer_norm.per_tensor")
def quantized_layer_norm(
    X: Tensor,
    X_scale: Number,
    X_zero_point: Number,
    normalized_shape: Sequence[int],
    weight: Tensor,
    bias: Tensor,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Tensor:
    """Mean and variance from sums of whole numbers, which lose nothing."""
    rows = X.flatten(X.dim() - len(normalized_shape))
    steps = subtract_zero_point(X_zero_point, rows)
    scale, count = float32(X_scale).double(), rows.shape[-1]
    total, squares = steps.sum(-1, keepdim=True), (steps * steps).sum(-1, keepdim=True)
    mean = (scale * total / count).float()
    variance = (scale * scale * (count * squares - total * total) / (count * count)).float()
    norm = (real(rows, X_scale, X_zero_point) - mean) / torch.sqrt(variance + float32(eps))
    values = norm * weight.flatten() + bias.flatten()
    made = by_scale(values, output_scale, output_zero_point, X.dtype)
    return made.reshape(X.shape)


# ---- Softmax ----


@LIBRARY.implement("_softmax_f32_f32")
def softmax_f32_f32(self: Tensor, dim: int, half_to_float: bool | None = None) -> Tensor:
    return torch.softmax(self, dim)


@LIBRARY.implement("quantized_softmax", "quantized_softmax.per_tensor")
def quantized_softmax(
    input: Tensor,
    mask: Tensor | None,
    dim: int,
    mask_type: int,
    pos: Tensor,
    in_scale: Number,
    in_zero_point: Number,
    out_scale: Number,
    out_zero_point: Number,
) -> Tensor:
    """`mask_type` 1: row i reads the values up to pos + i, and is 0 where there are none. `mask` is not read."""
    if dim not in (-1, input.dim() - 1):
        raise ValueError(f"quantized_softmax: the last dimension is expected, found {dim}")
    values = real(input, in_scale, in_zero_point)
    if mask_type == 1:
        ones = torch.ones_like(values)
        hidden = ones.cumsum(-1) > ones.cumsum(-2) + pos.reshape(-1)[0]
        shares = torch.softmax(values.masked_fill(hidden, -torch.inf), -1)
        shares = torch.where(hidden, 0.0, shares)
    else:
        shares = torch.softmax(values, -1)
    return by_scale(shares, out_scale, out_zero_point, input.dtype)
