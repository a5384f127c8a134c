# SPDX-License-Identifier: BSD-3-Clause
"""Our own decompositions, where they give a smaller or faster graph than torch's tables. Each is written with
ordinary torch operators and runs on fake tensors inside the re-trace."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch._decomp import decompositions

from executorch.exir.retrace.attention import ATTENTION
from executorch.exir.retrace.resizing import RESIZING

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
    """softmax(q k^T * scale + bias) v, with batches and heads folded into one dimension.

    The scale goes onto the smaller operand. What depends on the mask alone stands apart: layers of one mask share it,
    and what each layer does are sums and products.
    """
    if enable_gqa:
        groups = query.shape[-3] // key.shape[-3]
        key = key.repeat_interleave(groups, -3)
        value = value.repeat_interleave(groups, -3)
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    bias = has_key = None
    if attn_mask is not None:
        bias, has_key = _bias_without_empty_rows(_bias(attn_mask, query))
    if is_causal:
        size = (query.shape[-2], key.shape[-2])
        allowed = torch.ones(size, dtype=torch.bool, device=query.device).tril()
        bias = _bias(allowed, query) if bias is None else bias + _bias(allowed, query)
    query = query * factor
    leading, length = query.shape[:-2], query.shape[-2]
    folded = _one_batch(leading, key, value, bias)
    if folded is None:
        found = _attention(query, key, value, bias, dropout_p)
    else:
        found = _attention(query.reshape(-1, *query.shape[-2:]), *folded, dropout_p)
        found = found.reshape(*leading, length, value.shape[-1])
    return found if has_key is None else found * has_key


def _attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    bias: torch.Tensor | None,
    dropout_p: float,
) -> torch.Tensor:
    scores = torch.matmul(query, key.transpose(-2, -1))
    weights = torch.softmax(scores if bias is None else scores + bias, -1)
    if dropout_p > 0.0:
        weights = torch.dropout(weights, dropout_p, True)
    return torch.matmul(weights, value)


def _one_batch(
    leading: torch.Size, key: torch.Tensor, value: torch.Tensor, bias: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None] | None:
    """Key, value and bias with one dimension for batches and heads, so that scores are never reshaped; None where the
    operands or the bias broadcast over some of these dimensions, or there is nothing to fold."""
    if len(leading) < 2 or any(str(each.shape[:-2]) != str(leading) for each in (key, value)):
        return None
    if bias is not None and bias.dim() > 2:
        outer = [size for size in bias.shape[:-2] if not isinstance(size, int) or size != 1]
        if outer and str(bias.shape[:-2]) != str(leading):
            return None
        bias = bias.reshape(-1, *bias.shape[-2:])
    return *(each.reshape(-1, *each.shape[-2:]) for each in (key, value)), bias


def _bias(mask: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """What is added to the scores: a mask of numbers itself, -inf where one of bool forbids."""
    if mask.dtype != torch.bool:
        return mask
    zero = torch.zeros((), dtype=like.dtype, device=like.device)
    return torch.where(mask, zero, float("-inf"))


def _bias_without_empty_rows(bias: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Queries that no key is allowed for get zeros, not the NaN of their softmax: a bias that allows all of their
    keys, and a factor for the result, 0 for them and 1 for all others."""
    has_key = torch.any(torch.ne(bias, float("-inf")), -1, True)
    return torch.where(has_key, bias, 0.0), has_key.to(bias.dtype)


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
    layer_params = decompositions.gather_params(params, has_biases, hx[0].size(2) != hx[1].size(2))
    hidden = list(zip(hx[0], hx[1]))
    out, finals = decompositions._rnn_helper(
        input,
        hidden,
        layer_params,
        has_biases,
        num_layers,
        dropout,
        train,
        bidirectional,
        batch_first,
        decompositions.one_layer_lstm,
    )
    states = list(zip(*finals))
    return out, torch.stack(states[0], 0), torch.stack(states[1], 0)


def _linspace(start: float, end: float, steps: int, **options: Any) -> torch.Tensor:
    """Whole numbers lie between whole ends, as in eager."""
    dtype = options.get("dtype")
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        start, end = int(start), int(end)
    return torch._refs.linspace(start, end, steps, **options)


def _diagonal_scatter(
    self: torch.Tensor, src: torch.Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> torch.Tensor:
    """`src` where the column is the row plus `offset`; element i of it lies in row i below the first of them."""
    plane = self.movedim((dim1, dim2), (-2, -1))
    height, width = plane.shape[-2:]
    rows, columns = torch.arange(height).unsqueeze(1), torch.arange(width).unsqueeze(0)
    above = max(-offset, 0)
    by_row = torch.constant_pad_nd(src.to(self.dtype), [above, height - src.shape[-1] - above])
    result = torch.where(columns - rows == offset, by_row.unsqueeze(-1), plane)
    return result.movedim((-2, -1), (dim1, dim2))


def _select_scatter(self: torch.Tensor, src: torch.Tensor, dim: int, index: int) -> torch.Tensor:
    """In the dtype of `self`, where torch's form takes the larger one."""
    return torch._refs.select_scatter(self, src.to(self.dtype), dim, index)


def _multilabel_margin_loss(
    self: torch.Tensor, target: torch.Tensor, reduction: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Labels of a row end at the first negative one. (torch's form counts what stands behind it as label 0.)"""
    rows, labels = torch.atleast_2d(self), torch.atleast_2d(target)
    classes = rows.shape[1]
    is_label = (labels < 0).to(torch.int64).cumsum(1) == 0
    is_target = (labels.unsqueeze(-1) == torch.arange(classes)) & is_label.unsqueeze(-1)
    is_target = is_target.any(1)
    of_labels = rows.gather(1, torch.where(is_label, labels, 0))
    margins = (1.0 - of_labels.unsqueeze(-1) + rows.unsqueeze(1)).clamp(min=0)
    counts = is_label.unsqueeze(-1) & ~is_target.unsqueeze(1)
    loss = torch.where(counts, margins, 0.0).sum((1, 2)) / classes
    reduced = {0: loss if self.dim() > 1 else loss[0], 1: loss.mean(), 2: loss.sum()}
    return reduced[reduction], is_target.to(self.dtype).reshape(target.shape)


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


def _index_fill(self: torch.Tensor, dim: int, index: torch.Tensor, value: Any) -> torch.Tensor:
    """index_put counts negative indices from the end, as index_fill does; index_copy, which torch's table takes,
    refuses them."""
    if self.dim() == 0:
        return _index_fill(self.unsqueeze(0), 0, index, value).squeeze(0)
    if not isinstance(value, torch.Tensor):
        value = torch.full((), value, dtype=self.dtype, device=self.device)
    before = [None] * (dim % self.dim())
    return aten.index_put(self, [*before, index], value.to(self.dtype))


OWN_DECOMPOSITIONS: dict[torch._ops.OpOverload, Callable[..., Any]] = {
    aten.__lshift__.Scalar: aten.bitwise_left_shift.Tensor_Scalar,
    aten.__lshift__.Tensor: aten.bitwise_left_shift.Tensor,
    aten.__rshift__.Scalar: aten.bitwise_right_shift.Tensor_Scalar,
    aten.__rshift__.Tensor: aten.bitwise_right_shift.Tensor,
    aten._conj.default: aten._conj_physical.default,
    aten._neg_view.default: aten.neg.default,
    aten._trilinear.default: _trilinear,
    aten.copy.default: _copy,
    aten.diagonal_scatter.default: _diagonal_scatter,
    aten.empty_permuted.default: _empty_permuted,
    aten.index_fill.int_Scalar: _index_fill,
    aten.index_fill.int_Tensor: _index_fill,
    aten.linspace.default: _linspace,
    aten.lstm.input: _lstm,
    aten.multilabel_margin_loss_forward.default: _multilabel_margin_loss,
    aten.select_scatter.default: _select_scatter,
    aten.batch_norm.default: _batch_norm,
    aten.scaled_dot_product_attention.default: _scaled_dot_product_attention,
    **ATTENTION,
    **RESIZING,
}
