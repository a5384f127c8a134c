# SPDX-License-Identifier: BSD-3-Clause
"""Re-exports extension.llm.model.static_attention and static_io."""

from executorch.extension.llm.model.static_attention import (
    StaticAttention,
    StaticAttentionMHA,
    StaticKCache,
    StaticKVCache,
    StaticVCache,
    transform_attention_mha_to_static_attention,
)
from executorch.extension.llm.model.static_io import StaticAttentionIOManager, StaticAttentionMask

__all__ = [
    "StaticAttention",
    "StaticAttentionIOManager",
    "StaticAttentionMHA",
    "StaticAttentionMask",
    "StaticKCache",
    "StaticKVCache",
    "StaticVCache",
    "transform_attention_mha_to_static_attention",
]
