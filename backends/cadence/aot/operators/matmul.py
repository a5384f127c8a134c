# SPDX-License-Identifier: BSD-3-Clause
"""Matmuls: of quantized values, of floats with quantized weights, and of floats."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from executorch.backends.cadence.aot.operators.library import LIBRARY, of_8_bits, scale_of
from executorch.exir.backend.lowering.kernels.formulas import (
    Number,
    as_dtype,
    real,
    subtract_zero_point,
)


@LIBRARY.implement(
    "quantized_linear",
    "quantized_linear.per_tensor",
    *of_8_bits("quantized_linear"),
    "quantized_fully_connected",
    "quantized_fully_connected.per_tensor",
    *of_8_bits("quantized_fully_connected"),
)
def quantized_linear(
    src: Tensor,
    weight: Tensor,
    bias: Tensor,
    src_zero_point: int,
    weight_zero_point: Number,
    out_multiplier: Number,
    out_shift: Number,
    out_zero_point: int,
    offset: Tensor | None,
) -> Tensor:
    """Multiplier and shift: one, or one of each output. `offset` is not read."""
    weights = subtract_zero_point(_of_rows(weight_zero_point), weight)
    sums = F.linear(subtract_zero_point(src_zero_point, src), weights, bias.double())
    return as_dtype(sums, scale_of(out_multiplier, out_shift), out_zero_point, src.dtype)


def _of_rows(zero_point: Number) -> Number:
    has_many = isinstance(zero_point, Tensor) and zero_point.numel() > 1
    return zero_point.reshape(-1, 1) if has_many else zero_point


@LIBRARY.implement("quantized_matmul", *of_8_bits("quantized_matmul", overload=""))
def quantized_matmul(
    X: Tensor,
    X_zero_point: int,
    Y: Tensor,
    Y_zero_point: int,
    bias: Tensor | None,
    out_multiplier: int,
    out_shift: int,
    out_zero_point: int,
    transposed: bool = False,
) -> Tensor:
    """`transposed`: Y is [.., n, k]."""
    right = subtract_zero_point(Y_zero_point, Y)
    sums = torch.matmul(subtract_zero_point(X_zero_point, X), right.mT if transposed else right)
    if bias is not None:
        sums = sums + bias.double()
    return as_dtype(sums, scale_of(out_multiplier, out_shift), out_zero_point, X.dtype)


# ---- Of floats ----


@LIBRARY.implement("fully_connected")
def fully_connected(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    return F.linear(input, weight, bias)


@LIBRARY.implement("quantized_w8a32_linear")
def quantized_w8a32_linear(
    input: Tensor, weight: Tensor, w_scale: float, bias: Tensor, b_scale: float
) -> Tensor:
    """Weights [inputs, outputs]."""
    return torch.matmul(input, real(weight, w_scale, 0)) + real(bias, b_scale, 0)


@LIBRARY.implement("quantized_w8a32_conv")
def quantized_w8a32_conv(
    input: Tensor, weight: Tensor, w_scale: float, bias: Tensor, b_scale: float
) -> Tensor:
    """[batch, length, channels] and weights [kernel, outputs, channels]; gives [batch, outputs, places]."""
    weights = real(weight, w_scale, 0).permute(1, 2, 0)
    return F.conv1d(input.transpose(1, 2), weights, real(bias, b_scale, 0))


@LIBRARY.implement("quantized_w8a32_gru")
def quantized_w8a32_gru(
    inputs: Tensor,
    hidden: Tensor,
    weights_inputs: Tensor,
    w_i_scale: float,
    weights_hidden: Tensor,
    w_h_scale: float,
    bias_inputs: Tensor,
    b_scale: float,
    bias_hidden: Tensor,
) -> Tensor:
    """One step; gates in the order reset, update, new. Gives the output and the hidden state, which are the same."""
    of_input = F.linear(inputs, real(weights_inputs, w_i_scale, 0), real(bias_inputs, b_scale, 0))
    of_hidden = F.linear(hidden, real(weights_hidden, w_h_scale, 0), real(bias_hidden, b_scale, 0))
    reset_i, update_i, new_i = of_input.chunk(3, -1)
    reset_h, update_h, new_h = of_hidden.chunk(3, -1)
    update = torch.sigmoid(update_i + update_h)
    new = torch.tanh(new_i + torch.sigmoid(reset_i + reset_h) * new_h)
    made = (1 - update) * new + update * hidden
    return torch.stack([made, made])


@LIBRARY.implement("linalg_svd")
def linalg_svd(
    A: Tensor, full_matrices: bool = False, compute_uv: bool = True, driver: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """The largest value of each column of U, by amount, is positive: signs are free. `driver` is not read."""
    if not compute_uv:
        raise ValueError("linalg_svd: compute_uv is expected to be true, found false")
    U, S, Vh = torch.linalg.svd(A, full_matrices)
    count = S.shape[-1]
    largest = U.abs().argmax(-2, keepdim=True)
    signs = torch.where(U.gather(-2, largest) < 0, -1.0, 1.0)
    rows = torch.cat([Vh[..., :count, :] * signs[..., :count].mT, Vh[..., count:, :]], -2)
    return (U * signs).contiguous(), S.clone(), rows.contiguous()
