# SPDX-License-Identifier: BSD-3-Clause
"""Our own decompositions, where they give a smaller or faster graph than torch's tables. Each is written with
ordinary torch operators and runs on fake tensors inside the re-trace."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch._decomp import decompositions as rnn

aten = torch.ops.aten


def _copy(self: torch.Tensor, src: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    """What `self` holds after `self.copy_(src)`."""
    value = src if src.dtype == self.dtype else src.to(self.dtype)
    return value if value.shape == self.shape else value.expand(self.shape)


def _batch_norm(
    input: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    running_mean: torch.Tensor | None,
    running_var: torch.Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> torch.Tensor:
    if training or running_mean is None or running_var is None:
        return aten._native_batch_norm_legit.no_stats(input, weight, bias, True, momentum, eps)[0]
    return aten._native_batch_norm_legit_no_training.default(
        input, weight, bias, running_mean, running_var, momentum, eps
    )[0]


def _scaled_dot_product_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """softmax(q k^T * scale + mask) v, with batches and heads folded into one dimension.

    The scale goes onto the smaller operand. Only a mask can forbid all keys of a query; such a row gives zeros.
    """
    if enable_gqa:
        groups = query.shape[-3] // key.shape[-3]
        key = key.repeat_interleave(groups, -3)
        value = value.repeat_interleave(groups, -3)
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = torch.matmul(query * factor, key.transpose(-2, -1))
    if is_causal:
        allowed = torch.ones(
            (query.shape[-2], key.shape[-2]), dtype=torch.bool, device=query.device
        ).tril()
        scores = torch.where(allowed, scores, float("-inf"))
    if attn_mask is None:
        weights = torch.softmax(scores, -1)
    else:
        if attn_mask.dtype == torch.bool:
            scores = torch.where(attn_mask, scores, float("-inf"))
        else:
            scores = scores + attn_mask
        weights = _softmax_of_masked(scores)
    if dropout_p > 0.0:
        weights = torch.dropout(weights, dropout_p, True)
    return torch.matmul(weights, value)


def _softmax_of_masked(scores: torch.Tensor) -> torch.Tensor:
    """softmax over the last dimension; rows of nothing but -inf give zeros, not NaN."""
    forbidden = torch.eq(scores, float("-inf"))
    no_key = torch.logical_not(torch.any(torch.logical_not(forbidden), -1, True))
    return torch.where(no_key, 0.0, torch.softmax(scores, -1))


def _trilinear(
    i1: torch.Tensor,
    i2: torch.Tensor,
    i3: torch.Tensor,
    expand1: list[int],
    expand2: list[int],
    expand3: list[int],
    sumdim: list[int],
    unroll_dim: int = 1,
) -> torch.Tensor:
    product = None
    for operand, dims in ((i1, expand1), (i2, expand2), (i3, expand3)):
        for dim in dims:
            operand = operand.unsqueeze(dim)
        product = operand if product is None else product * operand
    return product.sum(sumdim) if sumdim else product


def _lstm(
    input: torch.Tensor,
    hx: list[torch.Tensor],
    params: list[torch.Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """torch's own steps; its entry point would choose a fused operator of one CPU vendor."""
    layer_params = rnn.gather_params(params, has_biases, hx[0].size(2) != hx[1].size(2))
    hidden = list(zip(hx[0], hx[1]))
    out, finals = rnn._rnn_helper(
        input,
        hidden,
        layer_params,
        has_biases,
        num_layers,
        dropout,
        train,
        bidirectional,
        batch_first,
        rnn.one_layer_lstm,
    )
    states = list(zip(*finals))
    return out, torch.stack(states[0], 0), torch.stack(states[1], 0)


def _empty_permuted(
    size: list[int],
    physical_layout: list[int],
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
) -> torch.Tensor:
    """Kernels know the contiguous order and channels last; any other becomes contiguous."""
    is_channels_last = list(physical_layout) == [0, 2, 3, 1]
    memory_format = torch.channels_last if is_channels_last else torch.contiguous_format
    return aten.empty.memory_format(size, dtype=dtype, device=device, memory_format=memory_format)


OWN_DECOMPOSITIONS: dict[torch._ops.OpOverload, Callable[..., Any]] = {
    aten.__lshift__.Scalar: aten.bitwise_left_shift.Tensor_Scalar,
    aten.__lshift__.Tensor: aten.bitwise_left_shift.Tensor,
    aten.__rshift__.Scalar: aten.bitwise_right_shift.Tensor_Scalar,
    aten.__rshift__.Tensor: aten.bitwise_right_shift.Tensor,
    aten._trilinear.default: _trilinear,
    aten.copy.default: _copy,
    aten.empty_permuted.default: _empty_permuted,
    aten.lstm.input: _lstm,
    aten.batch_norm.default: _batch_norm,
    aten.scaled_dot_product_attention.default: _scaled_dot_product_attention,
}
