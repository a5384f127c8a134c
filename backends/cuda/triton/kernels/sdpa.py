# SPDX-License-Identifier: BSD-3-Clause
"""Attention without a matrix of scores in memory: sums are carried on as the greatest score of a row grows (Milakov and
Gimelshein, "Online normalizer calculation for softmax", 2018; Dao et al., "FlashAttention", 2022)."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.library import triton_op, wrap_triton

from executorch.backends.cuda.triton.kernels.attention import (
    check_call,
    mask_of,
    masked,
    strides_of,
)


@triton.jit
def _attend(
    q, k, v, mask, out,
    q_batch, q_head, q_row, q_column, k_batch, k_head, k_row, k_column,
    v_batch, v_head, v_row, v_column, mask_batch, mask_head, mask_row, mask_column,
    out_batch, out_head, out_row, out_column,
    heads, groups, queries, keys, scale,
    SIZE: tl.constexpr, COLUMNS: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr,
    MASK: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """ROWS queries of one head by all keys, KEYS at a time."""
    first = tl.program_id(0) * ROWS
    batch, head = tl.program_id(1) // heads, tl.program_id(1) % heads
    rows, columns = first + tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    has_row, has_column = rows < queries, columns < SIZE
    q_places = rows[:, None] * q_row + columns[None, :] * q_column
    q_tile = tl.load(
        q + batch * q_batch + head * q_head + q_places,
        mask=has_row[:, None] & has_column[None, :], other=0.0,
    )  # fmt: skip
    k_start = k + batch * k_batch + (head // groups) * k_head
    v_start = v + batch * v_batch + (head // groups) * v_head
    mask_start = batch * mask_batch + head * mask_head
    best = tl.full([ROWS], float("-inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    sums = tl.zeros([ROWS, COLUMNS], tl.float32)
    end = keys
    if CAUSAL:
        end = tl.minimum(keys, first + ROWS)
    for start in range(0, end, KEYS):
        places = start + tl.arange(0, KEYS)
        has_key = places < keys
        k_tile = tl.load(
            k_start + columns[:, None] * k_column + places[None, :] * k_row,
            mask=has_column[:, None] & has_key[None, :], other=0.0,
        )  # fmt: skip
        scores = tl.dot(q_tile, k_tile, input_precision="ieee") * scale
        inside = has_row[:, None] & has_key[None, :]
        if CAUSAL:
            inside = inside & (places[None, :] <= rows[:, None])
        mask_places = mask_start + rows[:, None] * mask_row + places[None, :] * mask_column
        scores = masked(scores, inside, mask, mask_places, MASK)
        new_best = tl.maximum(best, tl.max(scores, 1))
        # A row that has seen no key yet: 0 in the place of -inf, so that nothing is NaN.
        base = tl.where(new_best == float("-inf"), 0.0, new_best)
        shares, factor = tl.exp(scores - base[:, None]), tl.exp(best - base)
        v_tile = tl.load(
            v_start + places[:, None] * v_row + columns[None, :] * v_column,
            mask=has_key[:, None] & has_column[None, :], other=0.0,
        )  # fmt: skip
        total = total * factor + tl.sum(shares, 1)
        sums = sums * factor[:, None] + tl.dot(
            shares.to(v_tile.dtype), v_tile, input_precision="ieee"
        )
        best = new_best
    result = sums / tl.where(total == 0, 1.0, total)[:, None]
    tl.store(
        out + batch * out_batch + head * out_head + rows[:, None] * out_row + columns[None, :] * out_column,
        result.to(out.dtype.element_ty), mask=has_row[:, None] & has_column[None, :],
    )  # fmt: skip


@triton_op("triton::sdpa", mutates_args={})
def sdpa(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """As aten.scaled_dot_product_attention, of (batch, heads, queries, size) and (batch, heads, keys, size) in any
    strides; a query whose mask keeps no key has zeros. `dropout_p`: 0."""
    groups = check_call(query, key, value, dropout_p, enable_gqa)
    (batch, heads, queries, size), keys = query.shape, key.shape[2]
    kind, mask = mask_of(attn_mask, (batch, heads, queries, keys))
    out = torch.empty_like(query, memory_format=torch.contiguous_format)
    # Exact products of float32 have no tensor cores, and much code.
    tile = 64 if size <= 128 and query.dtype != torch.float32 else 32
    wrap_triton(_attend)[(triton.cdiv(queries, tile), batch * heads)](
        query, key, value, mask, out,
        *strides_of(query), *strides_of(key), *strides_of(value), *strides_of(mask), *strides_of(out),
        heads, groups, queries, keys, size**-0.5 if scale is None else scale,
        SIZE=size, COLUMNS=max(16, triton.next_power_of_2(size)), ROWS=tile, KEYS=tile,
        MASK=kind, CAUSAL=is_causal,
    )  # fmt: skip
    return out
