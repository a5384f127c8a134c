# SPDX-License-Identifier: BSD-3-Clause
"""Re-exports caches and tables with attention sinks."""

import torch

from executorch.extension.llm.model.caches import CachePositionsManager, KVCacheWithAttentionSink
from executorch.extension.llm.model.masks import ring_mask
from executorch.extension.llm.transform.sdpa import RopeWithAttentionSink, enable_attention_sink


class CachePositionsManagerWithSink(CachePositionsManager):
    def __init__(self, cache_size: int, sink_size: int = 0) -> None:
        super().__init__(cache_size, sink_size=sink_size)


def _create_causal_mask_for_attention_sink(
    cache_positions: torch.Tensor,
    window_size: int,
    sink_size: int,
    start_pos: torch.Tensor | int,
    seq_len: int,
) -> torch.Tensor:
    """(tokens, rows): the first `sink_size` positions and the last `window_size` are seen."""
    return ring_mask(cache_positions, window_size, start_pos, seq_len, sink_size)


__all__ = [
    "CachePositionsManagerWithSink",
    "KVCacheWithAttentionSink",
    "RopeWithAttentionSink",
    "enable_attention_sink",
]
