# SPDX-License-Identifier: BSD-3-Clause
"""Importing this registers the operators of language models (namespace llama) with PyTorch: eager implementations, the
rules by which torch.export gives their results shapes, and the out variants that programs call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from executorch.extension.llm.custom_ops import (
    blocks,
    eager,
    op_fallback,  # noqa: F401
    preprocess_custom_ops,  # noqa: F401
    rows,
)
from executorch.extension.llm.custom_ops.register import Operators, register

_library = torch.library.Library("llama", "FRAGMENT")
_own = torch.library.Library("executorch", "FRAGMENT")


def _expect(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


def _is_known(*sizes: Any) -> bool:
    return all(isinstance(size, int) for size in sizes)


def _check_attention(
    name: str, query: Tensor, key: Tensor, value: Tensor, is_causal: bool, mask: Tensor | None
) -> None:
    for label, tensor in (("query", query), ("key", key), ("value", value)):
        _expect(tensor.dim() == 4, f"{name}: expected {label} of 4 dims, found {tensor.dim()}")
        depths = query.size(3), tensor.size(3)
        _expect(
            not _is_known(*depths) or depths[0] == depths[1],
            f"{name}: expected {label} of the query's depth {depths[0]}, found {depths[1]}",
        )
    _expect(
        key.dtype == value.dtype and (key.dtype == query.dtype or eager.narrows(query, key)),
        f"{name}: expected key and value of the query's {query.dtype}, or of float16 or bfloat16 with float32, found "
        f"{key.dtype} and {value.dtype}",
    )
    if mask is not None:
        _expect(not is_causal, f"{name}: expected attn_mask or is_causal, found both")
        _expect(mask.dim() == 2, f"{name}: expected attn_mask of 2 dims, found {mask.dim()}")


def _check_float_attention(name: str, query: Tensor, *rest: Any) -> None:
    _expect(
        query.dtype in (torch.float32, *eager.HALVES),
        f"{name}: expected float32, float16 or bfloat16, found {query.dtype}",
    )
    _check_attention(name, query, *rest)


# ---- What torch.export asks: shapes and dtypes of results. Sizes may be symbolic. ----


def sdpa_with_kv_cache_meta(
    query, key, value, key_cache, value_cache, start_pos, seq_len, attn_mask=None, drpout_p=0.0, is_causal=False,
    scale=None,
):  # fmt: skip
    name = "sdpa_with_kv_cache"
    _check_float_attention(name, query, key, value, is_causal, attn_mask)
    update_cache_meta(key, key_cache, start_pos)
    update_cache_meta(value, value_cache, start_pos)
    return query.new_empty(query.shape)


def custom_sdpa(
    query, key_cache, value_cache, start_pos, attn_mask=None, drpout_p=0.0, is_causal=False, scale=None
):  # fmt: skip
    _check_float_attention("custom_sdpa", query, key_cache, value_cache, is_causal, attn_mask)
    return query.new_empty(query.shape)


def sdpa_of_sessions_meta(query, key, value, rows, rows_per_session, scale=None):
    name = "sdpa_of_sessions"
    _check_float_attention(name, query, key, value, True, None)
    _expect(
        rows.dim() == 1 and rows.dtype == torch.int64,
        f"{name}: expected rows int64 of 1 dim, found {rows.dtype} of {rows.dim()}",
    )
    sizes = query.size(0), key.size(1), rows_per_session
    _expect(
        not _is_known(*sizes)
        or (sizes[0] == 1 and rows_per_session > 0 and sizes[1] % rows_per_session == 0),
        f"{name}: expected a batch of 1 and rows_per_session that divide the {sizes[1]} rows of keys, found a batch "
        f"of {sizes[0]} and {rows_per_session}",
    )
    return query.new_empty(query.shape)


def custom_quantized_sdpa_meta(
    query, key, value, start_pos, attn_mask=None, drpout_p=0.0, is_causal=False, scale=None, q_zero_point=None,
    q_scale=None, k_zero_point=None, k_scale=None, v_zero_point=None, v_scale=None, is_seq_at_dim_2=False,
):  # fmt: skip
    name = "custom_quantized_sdpa"
    _check_attention(name, query, key, value, is_causal, attn_mask)
    _expect(query.dtype == torch.int8, f"{name}: expected int8, found {query.dtype}")
    parameters = (q_zero_point, q_scale, k_zero_point, k_scale, v_zero_point, v_scale)
    _expect(
        all(each is not None for each in parameters),
        f"{name}: expected scales and zero points of query, key and value",
    )
    return query.new_empty(query.shape, dtype=torch.float32)


def update_cache_meta(value, cache, start_pos):
    for label, tensor in (("value", value), ("cache", cache)):
        _expect(
            tensor.dim() == 4, f"update_cache: expected {label} of 4 dims, found {tensor.dim()}"
        )
    _expect(
        value.dtype == cache.dtype or eager.narrows(value, cache),
        f"update_cache: expected value of the cache's {cache.dtype}, or float32 of float16 or bfloat16, found "
        f"{value.dtype}",
    )
    for dim in (0, 2, 3):
        sizes = value.size(dim), cache.size(dim)
        _expect(
            not _is_known(*sizes) or sizes[0] == sizes[1],
            f"update_cache: expected size {sizes[1]} of value's dim {dim}, as the cache has, found {sizes[0]}",
        )
    sizes = value.size(1), cache.size(1)
    _expect(
        not _is_known(*sizes) or sizes[0] <= sizes[1],
        f"update_cache: expected at most {sizes[1]} rows, which the cache has, found {sizes[0]}",
    )
    return value.new_empty(1)


def update_cache_with_indices_meta(value, cache, start_pos, indices):
    _expect(
        indices.dim() == 2 and indices.dtype == torch.int64,
        f"update_cache_with_indices: expected indices int64 of 2 dims, found {indices.dtype} of {indices.dim()}",
    )
    return update_cache_meta(value, cache, start_pos)


def fast_hadamard_transform_meta(mat):
    _expect(
        mat.dtype in (torch.float32, torch.float64, torch.float16),
        f"fast_hadamard_transform: expected float32, float64 or float16, found {mat.dtype}",
    )
    return mat.new_empty(mat.shape)


def channelwise_gated_delta_rule_meta(query, key, value, decay, beta, initial_state):
    name = "channelwise_gated_delta_rule"
    ranks = {"query": 4, "key": 4, "value": 4, "decay": 4, "beta": 3, "initial_state": 4}
    tensors = (query, key, value, decay, beta, initial_state)
    for (label, rank), tensor in zip(ranks.items(), tensors, strict=True):
        _expect(
            tensor.dim() == rank and tensor.dtype == torch.float32,
            f"{name}: expected {label} float32 of {rank} dims, found {tensor.dtype} of {tensor.dim()}",
        )
    return value.new_empty(value.shape), initial_state.new_empty(initial_state.shape)


# ---- Eager implementations ----


def _sdpa_with_kv_cache(
    query, key, value, key_cache, value_cache, start_pos, seq_len, attn_mask=None, drpout_p=0.0, is_causal=False,
    scale=None,
):  # fmt: skip
    end = start_pos + seq_len
    _expect(
        end <= key_cache.size(1),
        f"sdpa_with_kv_cache: expected start_pos + seq_len within {key_cache.size(1)} rows, found {end}",
    )
    eager.update_cache(key, key_cache, start_pos)
    eager.update_cache(value, value_cache, start_pos)
    return eager.attend(query, key_cache, value_cache, start_pos, attn_mask, is_causal, scale)


def _custom_sdpa(
    query, key, value, start_pos, attn_mask=None, drpout_p=0.0, is_causal=False, scale=None
):
    return eager.attend(query, key, value, start_pos, attn_mask, is_causal, scale)


def _custom_quantized_sdpa(
    query, key, value, start_pos, attn_mask=None, drpout_p=0.0, is_causal=False, scale=None, q_zero_points=None,
    q_scales=None, k_zero_points=None, k_scales=None, v_zero_points=None, v_scales=None, is_seq_at_dim_2=False,
):  # fmt: skip
    floats = [
        eager.dequantize(query, q_scales, q_zero_points),
        eager.dequantize(key, k_scales, k_zero_points),
        eager.dequantize(value, v_scales, v_zero_points),
    ]
    if is_seq_at_dim_2:
        floats = [each.transpose(1, 2) for each in floats]
    out = eager.attend(*floats, start_pos, attn_mask, is_causal, scale)
    return out.transpose(1, 2).contiguous() if is_seq_at_dim_2 else out


def _by(
    compute: Callable[..., Any], rule: Callable[..., Any]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """What `compute` makes of arguments that the rule takes, and the rule."""

    def checked(*args: Any, **kwargs: Any) -> Any:
        rule(*args, **kwargs)
        return compute(*args, **kwargs)

    return checked, rule


_OPERATORS: Operators = {
    "channelwise_gated_delta_rule": _by(eager.gated_delta_rule, channelwise_gated_delta_rule_meta),
    "custom_quantized_sdpa": _by(_custom_quantized_sdpa, custom_quantized_sdpa_meta),
    "custom_sdpa": _by(_custom_sdpa, custom_sdpa),
    "embedding_of_blocks": _by(blocks.embedding, blocks.embedding_meta),
    "fast_hadamard_transform": _by(eager.hadamard_transform, fast_hadamard_transform_meta),
    "linear_of_blocks": _by(blocks.linear, blocks.linear_meta),
    "rms_norm": _by(rows.rms_norm, rows.rms_norm_meta),
    "rotate": _by(rows.rotate, rows.rotate_meta),
    "sdpa_of_sessions": _by(eager.attend_by_session, sdpa_of_sessions_meta),
    "sdpa_with_kv_cache": _by(_sdpa_with_kv_cache, sdpa_with_kv_cache_meta),
    "silu_gate": _by(rows.silu_gate, rows.silu_gate_meta),
    "update_cache": (eager.update_cache, update_cache_meta),
    "update_cache_with_indices": (eager.update_cache_with_indices, update_cache_with_indices_meta),
}


register(_library, _OPERATORS)


# ---- Caches of cross-attention, as conditions of torch.export want them: branches that yield both caches ----


def lowering_custom_alias(x, y):
    """executorch::alias: both values as they are."""
    return x, y


def _alias(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return x.clone(), y.clone()


def _update_cross_attn_cache(value: Tensor, cache: Tensor) -> Tensor:
    """Writes the first rows (dim 2) of `cache`; returns a copy of all of it."""
    rows = value.size(2) if value.dim() == 4 else 0
    fits = (
        value.dim() == 4
        and cache.dim() == 4
        and value.shape[:2] == cache.shape[:2]
        and value.size(3) == cache.size(3)
        and rows <= cache.size(2)
        and value.dtype == cache.dtype
    )
    _expect(
        fits,
        "update_cross_attn_cache: expected value [batch, heads, rows, depth] that fits the cache, found "
        f"{value.dtype} {tuple(value.shape)} and {cache.dtype} {tuple(cache.shape)}",
    )
    cache.narrow(2, 0, rows).copy_(value)
    return cache.clone()


def _register_own() -> None:
    _own.define("alias(Tensor x, Tensor y) -> (Tensor, Tensor)")
    _own.define("update_cross_attn_cache(Tensor value, Tensor cache) -> Tensor")
    _own.impl("alias", _alias, "CompositeExplicitAutograd")
    _own.impl("update_cross_attn_cache", _update_cross_attn_cache, "CompositeExplicitAutograd")
    torch.library.register_fake("executorch::alias", _alias, lib=_own)
    torch.library.register_fake(
        "executorch::update_cross_attn_cache",
        lambda value, cache: torch.empty_like(cache),
        lib=_own,
    )


_register_own()
