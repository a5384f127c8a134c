# SPDX-License-Identifier: BSD-3-Clause
"""Which cache each layer has: plain ones become those that operators write, of half or of 8 bits, and rings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import torch.ao.quantization.fx._decomposed
from torch import nn

from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401
from executorch.extension.llm.model.caches import (
    Cache,
    CustomKVCache,
    CustomKVCacheWithAttentionSink,
    CustomRingKVCache,
    KVCache,
    KVCacheWithAttentionSink,
    QuantizedCacheType,
    QuantizedKVCache,
    RingKVCache,
    ring_of,
)


def _caches(module: nn.Module) -> Iterator[tuple[Any, Cache]]:
    """(owner, cache) of every layer that has one."""
    for owner in list(module.modules()):
        if (cache := owner._modules.get("kv_cache")) is not None:
            yield owner, cache


def replace_kv_cache_with_custom_kv_cache(module: nn.Module) -> nn.Module:
    """Plain caches, rings and sinks by those that the operators write."""
    for owner, cache in _caches(module):
        if isinstance(cache, KVCacheWithAttentionSink):
            owner.kv_cache = CustomKVCacheWithAttentionSink.from_kv_cache_with_attention_sink(cache)
        elif isinstance(cache, RingKVCache):
            sizes = cache.sizes(cache.window_size)
            owner.kv_cache = CustomRingKVCache(*sizes, cache.k_cache.dtype)
        elif isinstance(cache, KVCache):
            owner.kv_cache = CustomKVCache(*cache.sizes(), cache.k_cache.dtype)
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
        owner.kv_cache = ring_of(cache, window)
        if hasattr(owner.SDPA, "use_attention_mask"):
            owner.SDPA.use_attention_mask = True
        if hasattr(owner.SDPA, "read_from"):
            owner.SDPA.read_from(owner.kv_cache)
    return module
