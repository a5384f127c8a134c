# SPDX-License-Identifier: BSD-3-Clause
"""A model that goes on with several texts in one call.

Each token has a place, session * context length + position, and each row whose logits are wanted is named: a call mixes
prompts and single tokens. Linear layers see rows; attention keeps sessions apart.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.attention import AttentionMHA
from executorch.extension.llm.model.caches import CustomKVCache, SessionsKVCache
from executorch.extension.llm.model.rope import Rope
from executorch.extension.llm.model.transformer import TransformerBlock
from executorch.extension.llm.transform.sdpa import SDPACustom


class SDPAOfSessions(SDPACustom):
    """llama::sdpa_of_sessions over a cache that holds `rows_per_session` rows of each."""

    def __init__(self, dim: int, rows_per_session: int, scale: float | None = None) -> None:
        super().__init__(dim, scale=scale)
        self.rows_per_session = rows_per_session

    def _attend(
        self, input_pos: torch.Tensor, rows: list[torch.Tensor], mask: torch.Tensor
    ) -> torch.Tensor:
        return torch.ops.llama.sdpa_of_sessions(*rows, input_pos, self.rows_per_session, self.scale)


class RopeOfSessions(Rope):
    """A token's place says its position."""

    def get_freqs(
        self, input_pos: torch.Tensor | None, seq_len: int, local: bool = False
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if input_pos is None:
            raise ValueError("input_pos: expected the place of each token, found None")
        rows = input_pos % self.params.max_context_len
        cos, sin = self.tables(local)
        return cos[rows], sin[rows]


def _check(layer: nn.Module) -> None:
    attention = getattr(layer, "attention", None)
    served = (
        isinstance(attention, AttentionMHA)
        and not attention.is_kv_shared_layer
        and isinstance(attention.SDPA, SDPACustom)
        and not attention.SDPA.use_attention_mask
        and type(attention.kv_cache) is CustomKVCache
    )
    if not served:
        raise ValueError(
            "export.max_sessions: expected layers that attend to the whole context by llama::custom_sdpa, found "
            f"{layer.layer_type}; export this model without it, and load it once for each session"
        )


def serve_sessions(module: nn.Module, params: ModelArgs, sessions: int) -> nn.Module:
    """Caches for `sessions` texts, which attention keeps apart.

    Raises:
        ValueError: a layer has windows, shares keys and values, or carries a state along.
    """
    rope = RopeOfSessions(params)
    module.rope = rope
    for layer in (m for m in module.modules() if isinstance(m, TransformerBlock)):
        _check(layer)
        attention: Any = layer.attention
        attention.rope = rope
        attention.SDPA = SDPAOfSessions(
            attention.SDPA.dim, attention.kv_cache.max_context_length, attention.SDPA.scale
        )
        attention.kv_cache = SessionsKVCache(sessions, attention.kv_cache)
    return module
