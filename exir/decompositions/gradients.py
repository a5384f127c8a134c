# SPDX-License-Identifier: BSD-3-Clause
"""Operators of joint graphs (torch.export.experimental._export_forward_backward): gradients, and normalization that
gives new statistics."""

from __future__ import annotations

import math
from typing import Any

import torch

from executorch.exir.decompositions.sizes import CannotDecompose

aten = torch.ops.aten
Tensor = torch.Tensor


def _batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Values, statistics of the batch for the gradient, new running statistics."""
    if not training:
        values, mean, rstd = aten._native_batch_norm_legit_no_training(
            input, weight, bias, running_mean, running_var, momentum, eps
        )
        return values, mean, rstd, running_mean, running_var
    values, mean, rstd = aten._native_batch_norm_legit.no_stats(
        input, weight, bias, True, momentum, eps
    )
    others = [dim for dim in range(input.dim()) if dim != 1]
    variance = aten.var.correction(input, others, correction=1)
    return (
        values,
        mean,
        rstd,
        mean.reshape(running_mean.shape) * momentum + running_mean * (1 - momentum),
        variance * momentum + running_var * (1 - momentum),
    )


def _attention_backward(
    grad_out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    logsumexp: Tensor,
    dropout_p: float,
    is_causal: bool,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """With P = softmax(scale Q K^T + mask): dV = P^T dO, dS = P (dO V^T - sum(dO O)), dQ = scale dS K,
    dK = scale dS^T Q. P is computed anew: forward, decomposed, has no `logsumexp`."""
    if dropout_p != 0:
        raise CannotDecompose("attention with dropout")
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query @ key.transpose(-2, -1) * scale
    if is_causal:
        seen = torch.arange(query.shape[-2]).unsqueeze(1) >= torch.arange(key.shape[-2])
        scores = torch.where(seen, scores, -math.inf)
    if attn_mask is not None:
        is_choice = attn_mask.dtype == torch.bool
        scores = torch.where(attn_mask, scores, -math.inf) if is_choice else scores + attn_mask
    share = torch.softmax(scores, -1)
    rows = (grad_out * out).sum(-1, keepdim=True)
    grad_scores = share * (grad_out @ value.transpose(-2, -1) - rows) * scale
    return (
        grad_scores @ key,
        grad_scores.transpose(-2, -1) @ query,
        share.transpose(-2, -1) @ grad_out,
    )


def _adaptive_max_pool_backward(grad_output: Tensor, self: Tensor, indices: Tensor) -> Tensor:
    """Each gradient goes to where its maximum was in the flattened plane."""
    outer = list(self.shape[: -2 if indices.dim() == self.dim() else 0])
    planes = torch.zeros_like(self).reshape([*outer, -1])
    places = indices.reshape([*outer, -1])
    return planes.scatter_add(-1, places, grad_output.reshape([*outer, -1])).reshape(self.shape)


def _replication_pad_backward(grad_output: Tensor, self: Tensor, padding: list[Any]) -> Tensor:
    """The edges get the gradients of their copies, too."""
    result = grad_output
    for axis in range(len(padding) // 2):
        before, after = padding[2 * axis], padding[2 * axis + 1]
        dim = self.dim() - 1 - axis
        if not (before >= 0 and after >= 0):
            raise CannotDecompose("padding that cuts off")
        result = _folded(result, dim, before, self.shape[dim])
    return result


def _folded(grad: Tensor, dim: int, before: Any, size: Any) -> Tensor:
    """`grad`, of which `before` places stand before the first of `size`, with the outer ones added to the edges."""
    if size == 1:
        return grad.sum(dim, keepdim=True)
    end = before + size
    first = aten.slice(grad, dim, 0, before + 1).sum(dim, keepdim=True)
    last = aten.slice(grad, dim, end - 1).sum(dim, keepdim=True)
    return torch.cat([first, aten.slice(grad, dim, before + 1, end - 1), last], dim)


def _cdist_backward(grad: Tensor, x1: Tensor, x2: Tensor, p: float, cdist: Tensor) -> Tensor:
    """Of x1. Distances of 0 give none."""
    if p != 2:
        raise CannotDecompose(f"the gradient of distances with p = {p}; p = 2 is possible")
    share = torch.where(cdist == 0, 0.0, grad / cdist)
    return share.sum(-1, keepdim=True) * x1 - share @ x2


GRADIENTS = {
    aten._cdist_backward.default: _cdist_backward,
    aten._native_batch_norm_legit_functional.default: _batch_norm,
    aten._scaled_dot_product_flash_attention_for_cpu_backward.default: _attention_backward,
    aten.adaptive_max_pool2d_backward.default: _adaptive_max_pool_backward,
    aten.replication_pad1d_backward.default: _replication_pad_backward,
    aten.replication_pad2d_backward.default: _replication_pad_backward,
    aten.replication_pad3d_backward.default: _replication_pad_backward,
}
