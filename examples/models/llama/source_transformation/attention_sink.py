# SPDX-License-Identifier: BSD-3-Clause
"""Re-exports caches and tables with attention sinks."""

from executorch.extension.llm.model.caches import (
    CachePositionsManagerWithSink,
    KVCacheWithAttentionSink,
)
from executorch.extension.llm.transform.sdpa import RopeWithAttentionSink, enable_attention_sink

__all__ = [
    "CachePositionsManagerWithSink",
    "KVCacheWithAttentionSink",
    "RopeWithAttentionSink",
    "enable_attention_sink",
]
