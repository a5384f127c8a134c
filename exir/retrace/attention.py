# SPDX-License-Identifier: BSD-3-Clause
"""The operators that torch's transformer layers call in their fast path, under no_grad and in eval mode, as the layers
that they consist of: so that backends see the products. Formulas: `torch.nn.TransformerEncoderLayer`,
`torch.nn.MultiheadAttention`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

aten = torch.ops.aten
Tensor = torch.Tensor


def _bias_of(mask: Tensor, mask_type: int | None, like: Tensor) -> Tensor:
    """Added to scores of [batch, heads, target, source]. Type 0 is of [target, source], 1 of [batch, source], 2 of all
    four; a mask of bool leaves out where it is true."""
    if mask.dtype == torch.bool:
        zeros = torch.zeros_like(mask, dtype=like.dtype)
        mask = zeros.masked_fill(mask, -math.inf)
    if mask_type == 1:
        return mask.unsqueeze(1).unsqueeze(1)
    return mask


def _native_multi_head_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_head: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    mask: Tensor | None = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> tuple[Tensor, Tensor]:
    """[batch, length, embed_dim] each; the weights are empty where they are not asked for, as eager's are."""
    depth = embed_dim // num_head

    def heads(x: Tensor, part: int) -> Tensor:
        rows = slice(part * embed_dim, (part + 1) * embed_dim)
        y = aten.linear.default(x, qkv_weight[rows], qkv_bias[rows])
        return y.reshape(y.shape[0], y.shape[1], num_head, depth).transpose(1, 2)

    q, k, v = heads(query, 0), heads(key, 1), heads(value, 2)
    scores = (q * depth**-0.5) @ k.transpose(2, 3)
    if mask is not None:
        scores = scores + _bias_of(mask, mask_type, scores)
    weights = scores.softmax(-1)
    mixed = (weights @ v).transpose(1, 2).reshape(query.shape)
    result = aten.linear.default(mixed, proj_weight, proj_bias)
    if not need_weights:
        return result, query.new_empty((0,))
    return result, weights.mean(1) if average_attn_weights else weights


def _transformer_encoder_layer(
    src: Tensor,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Tensor,
    norm_bias_1: Tensor,
    norm_weight_2: Tensor,
    norm_bias_2: Tensor,
    ffn_weight_1: Tensor,
    ffn_bias_1: Tensor,
    ffn_weight_2: Tensor,
    ffn_bias_2: Tensor,
    mask: Tensor | None = None,
    mask_type: int | None = None,
) -> Tensor:
    def norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return aten.layer_norm.default(x, [embed_dim], weight, bias, eps)

    x = norm(src, norm_weight_1, norm_bias_1) if norm_first else src
    attended, _ = _native_multi_head_attention(
        x, x, x, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask,
        need_weights=False, mask_type=mask_type,
    )  # fmt: skip
    x = src + attended
    if not norm_first:
        x = norm(x, norm_weight_1, norm_bias_1)
    between = norm(x, norm_weight_2, norm_bias_2) if norm_first else x
    between = aten.linear.default(between, ffn_weight_1, ffn_bias_1)
    between = aten.gelu.default(between) if use_gelu else aten.relu.default(between)
    x = x + aten.linear.default(between, ffn_weight_2, ffn_bias_2)
    return x if norm_first else norm(x, norm_weight_2, norm_bias_2)


ATTENTION: dict[torch._ops.OpOverload, Callable[..., Any]] = {
    aten._native_multi_head_attention.default: _native_multi_head_attention,
    aten._transformer_encoder_layer_fwd.default: _transformer_encoder_layer,
}
