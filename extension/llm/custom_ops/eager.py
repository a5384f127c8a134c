# SPDX-License-Identifier: BSD-3-Clause
"""What the operators of language models compute, in operators of PyTorch."""

from __future__ import annotations

import math

import torch
from torch import Tensor

HALVES = (torch.float16, torch.bfloat16)


def update_cache(value: Tensor, cache: Tensor, start_pos: int) -> Tensor:
    """cache[:, start_pos + s] = value[:, s]; returns a tensor of one element that nobody reads."""
    rows = value.size(1)
    _expect_rows_of(value, cache)
    if not 0 <= start_pos <= cache.size(1) - rows or start_pos >= cache.size(1):
        raise ValueError(
            f"update_cache: expected rows [start_pos, start_pos + {rows}) within the cache's {cache.size(1)}, "
            f"found start_pos {start_pos}"
        )
    cache.narrow(1, start_pos, rows).copy_(_as_held(value, cache))
    return value.new_zeros(1)


def update_cache_with_indices(
    value: Tensor, cache: Tensor, start_pos: int, indices: Tensor
) -> Tensor:
    """cache[b, indices[b, s]] = value[b, s], the last s of equal indices; `start_pos` is not used."""
    _expect_rows_of(value, cache)
    if start_pos < 0:
        raise ValueError(
            f"update_cache_with_indices: expected start_pos of 0 or more, found {start_pos}"
        )
    if indices.dtype != torch.int64 or indices.shape != value.shape[:2]:
        raise ValueError(
            f"update_cache_with_indices: expected indices int64 {tuple(value.shape[:2])}, "
            f"found {indices.dtype} {tuple(indices.shape)}"
        )
    if indices.numel() and not 0 <= int(indices.min()) <= int(indices.max()) < cache.size(1):
        raise ValueError(
            f"update_cache_with_indices: expected indices in [0, {cache.size(1)}), "
            f"found {int(indices.min())} to {int(indices.max())}"
        )
    batch = torch.arange(value.size(0))
    for step, row in enumerate(_as_held(value, cache).unbind(1)):
        cache[batch, indices[:, step]] = row
    return value.new_zeros(1)


def _expect_rows_of(value: Tensor, cache: Tensor) -> None:
    fits = (
        value.dim() == 4
        and cache.dim() == 4
        and value.size(0) == cache.size(0)
        and value.shape[2:] == cache.shape[2:]
        and (value.element_size() == cache.element_size() or narrows(value, cache))
    )
    if not fits:
        raise ValueError(
            "expected value [batch, rows, heads, depth] and cache [batch, all rows, heads, depth] with elements of one "
            f"size, or float32 and float16 or bfloat16, found {value.dtype} {tuple(value.shape)} and {cache.dtype} "
            f"{tuple(cache.shape)}"
        )


def narrows(value: Tensor, cache: Tensor) -> bool:
    """Whether values are rounded on their way into the cache."""
    return value.dtype == torch.float32 and cache.dtype in HALVES


def _as_held(value: Tensor, cache: Tensor) -> Tensor:
    if value.dtype == cache.dtype:
        return value
    return value.to(cache.dtype) if narrows(value, cache) else value.view(cache.dtype)


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    start_pos: int,
    attn_mask: Tensor | None,
    is_causal: bool,
    scale: float | None,
) -> Tensor:
    """custom_sdpa: query [B, S, H, D], key and value [B, C, Hkv, D]; result like query. With a mask [S, C] all keys
    take part, else rows [0, start_pos + S), of which causal query s sees those up to start_pos + s."""
    if attn_mask is not None and attn_mask.numel() == 0:
        attn_mask = None
    if attn_mask is not None and is_causal:
        raise ValueError("expected attn_mask or is_causal, found both")
    queries, heads = query.shape[1:3]
    key_heads = key.size(2)
    if key_heads == 0 or heads % key_heads or key.shape != value.shape:
        raise ValueError(
            f"expected key and value of one shape whose heads divide {heads} of the query, found {tuple(key.shape)} "
            f"and {tuple(value.shape)}"
        )
    keys = key.size(1)
    if attn_mask is None:
        end = start_pos + queries
        if end > keys:
            raise ValueError(f"expected start_pos + {queries} within {keys} keys, found {end}")
        keys = end if end > 0 else keys
    if attn_mask is not None and tuple(attn_mask.shape) != (queries, keys):
        raise ValueError(f"expected attn_mask [{queries}, {keys}], found {list(attn_mask.shape)}")
    wide = torch.float32 if query.dtype in HALVES else query.dtype
    rows = (query, key[:, :keys], value[:, :keys])
    q, k, v = (each.to(wide).transpose(1, 2) for each in rows)
    if attn_mask is not None and attn_mask.dtype != torch.bool:
        attn_mask = attn_mask.to(wide)
    elif attn_mask is None and is_causal:
        attn_mask = torch.arange(keys) <= start_pos + torch.arange(queries)[:, None]
    out = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask, scale=scale, enable_gqa=heads != key_heads
    )
    if (
        attn_mask is not None and keys > 0
    ):  # a query that sees no key: NaN, as the kernel, upstream's too
        seen = attn_mask if attn_mask.dtype == torch.bool else attn_mask != -torch.inf
        out = out.masked_fill(~seen.any(-1)[:, None], torch.nan)
    return out.transpose(1, 2).to(query.dtype).contiguous()


def attend_by_session(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    rows: Tensor,
    rows_per_session: int,
    scale: float | None = None,
) -> Tensor:
    """sdpa_of_sessions: query [1, S, H, D] s sees keys from the first of its session up to rows[s]."""
    if rows.shape != query.shape[1:2]:
        raise ValueError(
            f"sdpa_of_sessions: expected rows [{query.size(1)}], one of each query, found {list(rows.shape)}"
        )
    if rows.numel() and not 0 <= int(rows.min()) <= int(rows.max()) < key.size(1):
        raise ValueError(
            f"sdpa_of_sessions: expected rows from 0 to {key.size(1) - 1}, found {int(rows.min())} to {int(rows.max())}"
        )
    seen = torch.arange(key.size(1))[None, :] <= rows[:, None]
    seen &= torch.arange(key.size(1))[None, :] >= (rows - rows % rows_per_session)[:, None]
    return attend(query, key, value, 0, seen, False, scale)


def dequantize(codes: Tensor, scales: Tensor | None, zeros: Tensor | None) -> Tensor:
    """(codes - zeros) * scales, one scale and zero point for each vector of the last dimension."""
    if codes.dtype != torch.int8 or scales is None or zeros is None:
        raise ValueError(
            f"expected int8 with scales and zero points, found {codes.dtype} with {scales is not None} and "
            f"{zeros is not None}"
        )
    return (codes.float() - zeros.float()) * scales.float()


# HAD28 of the spec, a row each: bit 27 is column 0, a set bit is +1.
HADAMARD_28 = (
    0x818694C, 0x41C14A6, 0x20E2A13, 0x1071549, 0x0838AE4, 0x041E532, 0x030D299, 0x3D019D2, 0x1E82CA9,
    0x8E43654, 0xC621B2A, 0xE210D95, 0xF00A6CA, 0x7807325, 0x5B3201E, 0xAC9900F, 0x564C847, 0xAB24463,
    0xD590271, 0x6AC8178, 0xB4640BC, 0x66B70C0, 0xB35B820, 0xD8ADC10, 0x6D54E08, 0x37A8704, 0x9AD4382,
    0xCD6A181,
)  # fmt: skip


def hadamard_transform(mat: Tensor) -> Tensor:
    """Along the last dimension, of 2^k elements (orthonormal) or of 28 * 2^k (whose part of 28 is not normalized)."""
    if mat.dim() == 0 or mat.numel() == 0:
        return mat.clone()
    size = mat.size(-1)
    outer = 28 if size % 28 == 0 else 1
    inner = size // outer
    if inner & (inner - 1):
        raise ValueError(
            f"fast_hadamard_transform: expected a last dimension of 2^k or 28 * 2^k elements, found {size}"
        )
    work = mat.to(torch.float32 if mat.dtype == torch.float16 else mat.dtype)
    work = work.reshape(-1, outer, inner)
    step = 1
    while step < inner:
        pairs = work.reshape(-1, outer, inner // (2 * step), 2, step)
        low, high = pairs.unbind(3)
        work = torch.stack((low + high, low - high), 3).reshape(-1, outer, inner)
        step *= 2
    work = work / math.sqrt(inner)
    if outer == 28:
        signs = [[1.0 if row >> (27 - i) & 1 else -1.0 for i in range(28)] for row in HADAMARD_28]
        work = torch.tensor(signs, dtype=work.dtype) @ work
    return work.reshape(mat.shape).to(mat.dtype)


def gated_delta_rule(
    query: Tensor, key: Tensor, value: Tensor, decay: Tensor, beta: Tensor, initial_state: Tensor
) -> tuple[Tensor, Tensor]:
    """Token by token: the state fades, then learns what it got wrong of the token's value.

    query, key and decay (batch, heads, tokens, K), value (.., V), beta (batch, heads, tokens), state (batch, heads,
    K, V). Gives (batch, heads, tokens, V) and the last state.
    """
    state, outputs = initial_state, []
    for token in range(query.shape[2]):
        state = state * decay[:, :, token, :, None]
        seen = (state * key[:, :, token, :, None]).sum(-2)
        wrong = (value[:, :, token] - seen) * beta[:, :, token, None]
        state = state + key[:, :, token, :, None] * wrong[:, :, None, :]
        outputs.append((state * query[:, :, token, :, None]).sum(-2))
    if not outputs:
        return value.new_zeros(value.shape), initial_state.clone()
    return torch.stack(outputs, 2), state
