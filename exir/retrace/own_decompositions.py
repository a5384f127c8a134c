# SPDX-License-Identifier: BSD-3-Clause
"""Our own decompositions, where they give a smaller or faster graph than torch's tables. Each is written with
ordinary torch operators and runs on fake tensors inside the re-trace."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

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


OWN_DECOMPOSITIONS: dict[torch._ops.OpOverload, Callable[..., Any]] = {
    aten.copy.default: _copy,
    aten.batch_norm.default: _batch_norm,
    aten.scaled_dot_product_attention.default: _scaled_dot_product_attention,
}
