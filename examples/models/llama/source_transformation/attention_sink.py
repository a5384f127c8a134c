# SPDX-License-Identifier: BSD-3-Clause
"""Re-exports caches and tables with attention sinks."""

from executorch.extension.llm.model.caches import CachePositionsManager, KVCacheWithAttentionSink
from executorch.extension.llm.transform.sdpa import RopeWithAttentionSink, enable_attention_sink


class CachePositionsManagerWithSink(CachePositionsManager):
    def __init__(self, cache_size: int, sink_size: int = 0) -> None:
        super().__init__(cache_size, sink_size=sink_size)


__all__ = [
    "CachePositionsManagerWithSink",
    "KVCacheWithAttentionSink",
    "RopeWithAttentionSink",
    "enable_attention_sink",
]
