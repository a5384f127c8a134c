# SPDX-License-Identifier: BSD-3-Clause
"""Caches that operators `llama::*` write: (batch, rows, kv heads, head) as attention reads them, in float or int8.

Like the plain ones they take and give (batch, kv heads, tokens or rows, head), as views.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import torch
import torch.ao.quantization.fx._decomposed
from torch import nn

from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401
from executorch.extension.llm.model.caches import (
    CachePositionsManager,
    CachePositionsManagerWithSink,
    KVCache,
    KVCacheWithAttentionSink,
    Ring,
    RingKVCache,
)
from executorch.extension.llm.model.rope import token_positions


def start_of(input_pos: torch.Tensor, rows: int) -> int:
    """The first position as a number, within the cache."""
    start = input_pos[0].item()
    torch._check(start >= 0)
    torch._check(start < rows)
    return start


def _write(
    value: torch.Tensor, cache: torch.Tensor, start: int, indices: torch.Tensor | None
) -> None:
    if indices is None:
        torch.ops.llama.update_cache(value, cache, start)
    else:
        torch.ops.llama.update_cache_with_indices(value, cache, start, indices)


class CustomKVCache(nn.Module):
    is_ring_buffer = False

    def __init__(
        self,
        max_batch_size: int,
        max_context_length: int,
        n_heads: int,
        head_dim: int,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.max_batch_size, self.max_context_length = max_batch_size, max_context_length
        self.n_heads, self.head_dim = n_heads, head_dim
        shape = (max_batch_size, max_context_length, n_heads, head_dim)
        self.register_buffer("k_cache", torch.zeros(shape, dtype=dtype, device="cpu"))
        self.register_buffer("v_cache", torch.zeros(shape, dtype=dtype, device="cpu"))

    def update(
        self,
        input_pos: torch.Tensor,
        k_val: torch.Tensor,
        v_val: torch.Tensor,
        indices: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """`indices` (batch, tokens): the rows to write, instead of those from `input_pos` on."""
        start, indices = self._rows_of(input_pos, indices)
        for value, cache in ((k_val, self.k_cache), (v_val, self.v_cache)):
            _write(value.transpose(1, 2).contiguous(), cache, start, indices)
        return self.k_cache.transpose(1, 2), self.v_cache.transpose(1, 2)

    def _rows_of(
        self, input_pos: torch.Tensor, indices: torch.Tensor | None
    ) -> tuple[int, torch.Tensor | None]:
        """The first row to write, and the rows where they do not follow it."""
        return start_of(input_pos, self.max_context_length), indices


class SessionsKVCache(CustomKVCache):
    """The caches of `sessions` texts one after the other, of `max_context_length` rows each; `input_pos` (tokens,) are
    the rows themselves."""

    def __init__(self, sessions: int, cache: CustomKVCache) -> None:
        rows = sessions * cache.max_context_length
        super().__init__(1, rows, cache.n_heads, cache.head_dim, cache.k_cache.dtype)

    def _rows_of(
        self, input_pos: torch.Tensor, indices: torch.Tensor | None
    ) -> tuple[int, torch.Tensor | None]:
        return 0, input_pos.unsqueeze(0) if indices is None else indices


class CustomRing(Ring):
    """A ring over a cache whose `update` takes the rows to write."""

    def update(
        self, input_pos: torch.Tensor, k_val: torch.Tensor, v_val: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        rows = self._rows(input_pos, k_val.shape[2]).unsqueeze(0)
        start = torch.zeros_like(input_pos)  # rows say where
        return super().update(start, k_val, v_val, rows)


class CustomRingKVCache(CustomRing, CustomKVCache):
    """`max_context_length` is the window; twice as many rows."""

    def __init__(
        self,
        max_batch_size: int,
        max_context_length: int,
        n_heads: int,
        head_dim: int,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__(max_batch_size, 2 * max_context_length, n_heads, head_dim, dtype)
        self.window_size = max_context_length
        self.cache_positions_manager = CachePositionsManager(2 * max_context_length)

    @classmethod
    def from_custom_kv_cache(cls, kv_cache: CustomKVCache, sliding_window_size: int) -> Any:
        dtype = kv_cache.k_cache.dtype
        return cls(
            kv_cache.max_batch_size, sliding_window_size, kv_cache.n_heads, kv_cache.head_dim, dtype
        )


class CustomKVCacheWithAttentionSink(CustomRing, CustomKVCache):
    """The first `sink_size` positions stay, the last `window_size` turn around in twice as many rows."""

    def __init__(
        self,
        max_batch_size: int,
        n_heads: int,
        head_dim: int,
        window_size: int,
        sink_size: int,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        rows = sink_size + 2 * window_size
        super().__init__(max_batch_size, rows, n_heads, head_dim, dtype)
        self.window_size, self.sink_size = window_size, sink_size
        self.cache_positions_manager = CachePositionsManagerWithSink(rows, sink_size)

    @classmethod
    def from_kv_cache_with_attention_sink(cls, kv_cache: KVCacheWithAttentionSink) -> Any:
        sizes = (kv_cache.max_batch_size, kv_cache.n_heads, kv_cache.head_dim)
        return cls(*sizes, kv_cache.window_size, kv_cache.sink_size, kv_cache.k_cache.dtype)


class QuantizedCacheType(Enum):
    AffineSymmetric = 0
    AffineAsymmetric = 1
    AffineSymmetricGroupWise = 2
    AffineAsymmetricGroupWise = 3


class QuantizedKVCache(nn.Module):
    """Every token's head in 8 bits with a scale and a zero point of its own.

    `return_float_values`: `update` gives floats, the tokens of this call as they came; otherwise the stored bytes.
    """

    is_ring_buffer = False

    def __init__(
        self,
        max_batch_size: int,
        max_context_length: int,
        n_heads: int,
        head_dim: int,
        cache_type: QuantizedCacheType = QuantizedCacheType.AffineSymmetric,
        use_custom_update_cache_op: bool = False,
        return_float_values: bool = True,
    ) -> None:
        super().__init__()
        if cache_type not in (
            QuantizedCacheType.AffineSymmetric,
            QuantizedCacheType.AffineAsymmetric,
        ):
            raise ValueError(f"expected AffineSymmetric or AffineAsymmetric, found {cache_type}")
        self.max_batch_size, self.max_context_length = max_batch_size, max_context_length
        self.n_heads, self.head_dim, self.cache_type = n_heads, head_dim, cache_type
        self.use_custom_update_cache_op = use_custom_update_cache_op
        self.return_float_values = return_float_values
        rows = (max_batch_size, max_context_length, n_heads)
        for name in ("k", "v"):
            values = torch.zeros(*rows, head_dim, dtype=torch.int8, device="cpu")
            scales = torch.ones(*rows, 1, dtype=torch.float32, device="cpu")
            self.register_buffer(f"{name}_cache", values)
            self.register_buffer(f"{name}_cache_scales", scales)
            points = torch.ones(*rows, 1, dtype=torch.int8, device="cpu")
            self.register_buffer(f"{name}_cache_zero_points", points)

    def _quantized(self, value: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Bytes, scales and zero points of (batch, tokens, heads, head)."""
        ops = torch.ops.quantized_decomposed
        value = value.float().contiguous()
        if self.cache_type is QuantizedCacheType.AffineAsymmetric:
            scales, points = ops.choose_qparams_per_token_asymmetric.default(value, torch.int8)
        else:
            scales = value.abs().amax(-1, keepdim=True).clamp(min=1e-6) / 127
            points = torch.zeros_like(scales, dtype=torch.int64)
        stored = ops.quantize_per_token.default(value, scales, points, -128, 127, torch.int8)
        return stored, scales.float(), points.to(torch.int8)

    def _store(
        self,
        name: str,
        value: torch.Tensor,
        input_pos: torch.Tensor,
        indices: torch.Tensor | None,
    ) -> torch.Tensor:
        parts = ("", "_scales", "_zero_points")
        caches = [getattr(self, f"{name}_cache{part}") for part in parts]
        quantized = self._quantized(value)
        if self.use_custom_update_cache_op:
            start = start_of(input_pos, self.max_context_length)
            for part, cache in zip(quantized, caches):
                _write(part, cache, start, indices)
        else:
            for part, cache in zip(quantized, caches):
                cache[:, self._places(input_pos, value, indices)] = part
        if not self.return_float_values:
            return caches[0].transpose(1, 2)
        stored, scales, points = caches
        floats = (stored.float() - points.float()) * scales
        places = self._places(input_pos, value, indices)
        floats[:, places] = value.float()
        return floats.to(value.dtype).transpose(1, 2)

    @staticmethod
    def _places(
        input_pos: torch.Tensor, value: torch.Tensor, indices: torch.Tensor | None
    ) -> torch.Tensor:
        return token_positions(input_pos, value.shape[1]) if indices is None else indices[0]

    def update(
        self,
        input_pos: torch.Tensor,
        k_val: torch.Tensor,
        v_val: torch.Tensor,
        indices: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return (
            self._store("k", k_val.transpose(1, 2), input_pos, indices),
            self._store("v", v_val.transpose(1, 2), input_pos, indices),
        )

    @classmethod
    def from_float(
        cls,
        kv_cache: KVCache | CustomKVCache,
        cache_type: QuantizedCacheType,
        use_custom_update_cache_op: bool = False,
    ) -> QuantizedKVCache:
        sizes = (kv_cache.max_batch_size, kv_cache.max_context_length)
        heads = (kv_cache.n_heads, kv_cache.head_dim)
        return cls(*sizes, *heads, cache_type, use_custom_update_cache_op)


class QuantizedRingKVCache(CustomRing, QuantizedKVCache):
    def __init__(
        self,
        max_batch_size: int,
        max_context_length: int,
        n_heads: int,
        head_dim: int,
        cache_type: QuantizedCacheType = QuantizedCacheType.AffineSymmetric,
        use_custom_update_cache_op: bool = False,
        return_float_values: bool = True,
    ) -> None:
        """`max_context_length` is the window."""
        options = (cache_type, use_custom_update_cache_op, return_float_values)
        super().__init__(max_batch_size, 2 * max_context_length, n_heads, head_dim, *options)
        self.window_size = max_context_length
        self.cache_positions_manager = CachePositionsManager(2 * max_context_length)

    @classmethod
    def from_quantized_kv_cache(cls, kv_cache: QuantizedKVCache, sliding_window_size: int) -> Any:
        heads = (kv_cache.n_heads, kv_cache.head_dim, kv_cache.cache_type)
        options = (kv_cache.use_custom_update_cache_op, kv_cache.return_float_values)
        return cls(kv_cache.max_batch_size, sliding_window_size, *heads, *options)


def _caches(module: nn.Module) -> Any:
    """(owner, cache) of every layer that has one."""
    for owner in module.modules():
        cache = getattr(owner, "kv_cache", None)
        if cache is not None:
            yield owner, cache


def replace_kv_cache_with_custom_kv_cache(module: nn.Module) -> nn.Module:
    """Plain caches, rings and sinks by those that the operators write."""
    for owner, cache in _caches(module):
        dtype = getattr(cache, "k_cache", torch.empty(0)).dtype
        sizes = (cache.n_heads, cache.head_dim, dtype)
        if isinstance(cache, KVCacheWithAttentionSink):
            made = CustomKVCacheWithAttentionSink.from_kv_cache_with_attention_sink(cache)
        elif isinstance(cache, RingKVCache):
            made = CustomRingKVCache(cache.max_batch_size, cache.window_size, *sizes)
        elif isinstance(cache, KVCache):
            made = CustomKVCache(cache.max_batch_size, cache.max_context_length, *sizes)
        else:
            continue
        owner.kv_cache = made
    return module


def hold_caches_in(module: nn.Module, dtype: torch.dtype) -> nn.Module:
    """Custom caches hold keys and values in `dtype`, half of the memory; the operators round what they write, and read
    it with the queries' floats."""
    for _, cache in _caches(module):
        for name in ("k_cache", "v_cache") if isinstance(cache, CustomKVCache) else ():
            setattr(cache, name, getattr(cache, name).to(dtype))
    return module


def replace_kv_cache_with_quantized_kv_cache(module: nn.Module) -> nn.Module:
    """Every cache by one of 8 bits; custom ones keep being written by the operator."""
    for owner, cache in _caches(module):
        custom = isinstance(cache, CustomKVCache)
        owner.kv_cache = QuantizedKVCache.from_float(
            cache, QuantizedCacheType.AffineAsymmetric, custom
        )
    return module


def replace_kv_cache_with_ring_kv_cache(module: nn.Module, layer_sizes: list[int]) -> nn.Module:
    """Layer by layer: a window by a ring of it, 0 leaves the cache; `layer_sizes` repeats over the layers.

    Attention reads a mask then, which the ring makes.
    """
    found = list(_caches(module))
    if not layer_sizes or len(found) % len(layer_sizes):
        raise ValueError(
            f"model.local_global_attention: expected a number of windows that divides {len(found)} layers, "
            f"found {len(layer_sizes)}"
        )
    for number, (owner, cache) in enumerate(found):
        window = layer_sizes[number % len(layer_sizes)]
        if not window:
            continue
        sizes = (cache.max_batch_size, window, cache.n_heads, cache.head_dim)
        if isinstance(cache, QuantizedKVCache):
            owner.kv_cache = QuantizedRingKVCache.from_quantized_kv_cache(cache, window)
        elif isinstance(cache, CustomKVCache):
            owner.kv_cache = CustomRingKVCache.from_custom_kv_cache(cache, window)
        else:
            owner.kv_cache = RingKVCache(*sizes, cache.enable_dynamic_shape, cache.dtype)
        if hasattr(owner.SDPA, "use_attention_mask"):
            owner.SDPA.use_attention_mask = True
        if hasattr(owner.SDPA, "read_from"):
            owner.SDPA.read_from(owner.kv_cache)
    return module
