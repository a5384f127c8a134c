# SPDX-License-Identifier: BSD-3-Clause
"""Re-exports caches of extension.llm.model.caches and extension.llm.transform.caches."""

from executorch.extension.llm.model.caches import (
    CustomKVCache,
    CustomKVCacheWithAttentionSink,
    CustomRingKVCache,
    QuantizedCacheType,
    QuantizedKVCache,
    QuantizedRingKVCache,
)
from executorch.extension.llm.transform.caches import (
    replace_kv_cache_with_custom_kv_cache,
    replace_kv_cache_with_quantized_kv_cache,
    replace_kv_cache_with_ring_kv_cache,
)

__all__ = [
    "CustomKVCache",
    "CustomKVCacheWithAttentionSink",
    "CustomRingKVCache",
    "QuantizedCacheType",
    "QuantizedKVCache",
    "QuantizedRingKVCache",
    "replace_kv_cache_with_custom_kv_cache",
    "replace_kv_cache_with_quantized_kv_cache",
    "replace_kv_cache_with_ring_kv_cache",
]
