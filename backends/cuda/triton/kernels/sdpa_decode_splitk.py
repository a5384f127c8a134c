# SPDX-License-Identifier: BSD-3-Clause
"""Attention of one query by many keys: programs take parts of the keys, and a second kernel joins them (Dao et al.,
"Flash-Decoding", 2023)."""

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

# Keys of one program, and those of a step.
PART, STEP = 256, 64


@triton.jit
def _attend_part(
    q, k, v, mask, sums_out, best_out, total_out,
    q_batch, q_head, q_row, q_column, k_batch, k_head, k_row, k_column,
    v_batch, v_head, v_row, v_column, mask_batch, mask_head, mask_row, mask_column,
    heads, groups, keys, scale, parts,
    SIZE: tl.constexpr, KEYS_OF_PART: tl.constexpr, KEYS: tl.constexpr, MASK: tl.constexpr,
):  # fmt: skip
    part, both = tl.program_id(0), tl.program_id(1)
    batch, head = both // heads, both % heads
    columns = tl.arange(0, SIZE)
    row = tl.load(q + batch * q_batch + head * q_head + columns * q_column).to(tl.float32)
    k_start = k + batch * k_batch + (head // groups) * k_head
    v_start = v + batch * v_batch + (head // groups) * v_head
    best, total = float("-inf"), 0.0
    sums = tl.zeros([SIZE], tl.float32)
    for step in range(0, KEYS_OF_PART, KEYS):
        places = part * KEYS_OF_PART + step + tl.arange(0, KEYS)
        has_key = places < keys
        k_tile = tl.load(
            k_start + places[:, None] * k_row + columns[None, :] * k_column,
            mask=has_key[:, None], other=0.0,
        ).to(tl.float32)  # fmt: skip
        scores = tl.sum(k_tile * row[None, :], 1) * scale
        mask_places = batch * mask_batch + head * mask_head + places * mask_column
        scores = masked(scores, has_key, mask, mask_places, MASK)
        new_best = tl.maximum(best, tl.max(scores, 0))
        base = tl.where(new_best == float("-inf"), 0.0, new_best)
        shares, factor = tl.exp(scores - base), tl.exp(best - base)
        v_tile = tl.load(
            v_start + places[:, None] * v_row + columns[None, :] * v_column,
            mask=has_key[:, None], other=0.0,
        ).to(tl.float32)  # fmt: skip
        total = total * factor + tl.sum(shares, 0)
        sums = sums * factor + tl.sum(shares[:, None] * v_tile, 0)
        best = new_best
    place = both * parts + part
    tl.store(sums_out + place * SIZE + columns, sums)
    tl.store(best_out + place, best)
    tl.store(total_out + place, total)


@triton.jit
def _join(
    sums_in, best_in, total_in, out, parts, SIZE: tl.constexpr, PARTS: tl.constexpr
):  # fmt: skip
    both = tl.program_id(0)
    places, columns = tl.arange(0, PARTS), tl.arange(0, SIZE)
    has_part = places < parts
    best = tl.load(best_in + both * parts + places, mask=has_part, other=float("-inf"))
    greatest = tl.max(best, 0)
    factor = tl.exp(best - tl.where(greatest == float("-inf"), 0.0, greatest))
    total = tl.sum(tl.load(total_in + both * parts + places, mask=has_part, other=0.0) * factor, 0)
    sums = tl.load(
        sums_in + (both * parts + places)[:, None] * SIZE + columns[None, :],
        mask=has_part[:, None], other=0.0,
    )  # fmt: skip
    result = tl.sum(sums * factor[:, None], 0) / tl.where(total == 0, 1.0, total)
    tl.store(out + both * SIZE + columns, result.to(out.dtype.element_ty))


@triton_op("triton::sdpa_decode_splitk", mutates_args={})
def sdpa_decode_splitk(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """As triton::sdpa for one query, of a size that is a power of two; `is_causal`: false."""
    groups = check_call(query, key, value, dropout_p, enable_gqa)
    (batch, heads, queries, size), keys = query.shape, key.shape[2]
    if queries != 1 or is_causal or size & (size - 1) != 0:
        raise ValueError(
            f"sdpa_decode_splitk: expected one query of a size that is a power of two, and no causal mask, found "
            f"{queries} of {size}{', causal' if is_causal else ''}: call triton::sdpa"
        )
    kind, mask = mask_of(attn_mask, (batch, heads, 1, keys))
    parts = triton.cdiv(keys, PART)
    on_device = {"dtype": torch.float32, "device": query.device}
    sums = torch.empty(batch * heads, parts, size, **on_device)
    best, total = (torch.empty(batch * heads, parts, **on_device) for _ in range(2))
    out = torch.empty_like(query, memory_format=torch.contiguous_format)
    wrap_triton(_attend_part)[(parts, batch * heads)](
        query, key, value, mask, sums, best, total,
        *strides_of(query), *strides_of(key), *strides_of(value), *strides_of(mask),
        heads, groups, keys, size**-0.5 if scale is None else scale, parts,
        SIZE=size, KEYS_OF_PART=PART, KEYS=STEP, MASK=kind,
    )  # fmt: skip
    wrap_triton(_join)[(batch * heads,)](
        sums, best, total, out, parts, SIZE=size, PARTS=triton.next_power_of_2(parts)
    )
    return out
