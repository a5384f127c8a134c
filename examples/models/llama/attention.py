# SPDX-License-Identifier: BSD-3-Clause
"""Re-exports extension.llm.model.attention and its caches."""

from executorch.extension.llm.model.attention import (
    ATTENTION_REGISTRY,
    SDPA,
    Attention,
    AttentionMHA,
    AttentionSkip,
    ForwardOptions,
    register_attention,
)
from executorch.extension.llm.model.caches import CachePositionsManager, KVCache, RingKVCache
from executorch.extension.llm.model.masks import ring_mask as _create_causal_mask_for_ring_buffer
from executorch.extension.llm.model.rope import Rope

__all__ = [
    "ATTENTION_REGISTRY",
    "SDPA",
    "Attention",
    "AttentionMHA",
    "AttentionSkip",
    "CachePositionsManager",
    "ForwardOptions",
    "KVCache",
    "RingKVCache",
    "Rope",
    "_create_causal_mask_for_ring_buffer",
    "register_attention",
]
