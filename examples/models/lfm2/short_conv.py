# SPDX-License-Identifier: BSD-3-Clause
"""LFM2's layer without attention, alone; it is TransformerBlock of extension/llm/model."""

from __future__ import annotations

from typing import Any

import torch

from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.attention import ForwardOptions
from executorch.extension.llm.model.rope import Rope
from executorch.extension.llm.model.transformer import TransformerBlock


class ShortConvBlock(TransformerBlock):
    """x + conv(norm(x)), then x + feed_forward(norm(x)). Where the options' `input_pos` says that a text goes on, the
    tokens before it take part."""

    def __init__(self, dim: int, hidden_dim: int, norm_eps: float) -> None:
        args = ModelArgs(
            dim=dim, hidden_dim=hidden_dim, norm_eps=norm_eps, n_heads=1, layer_types=["conv"],
            use_kv_cache=True,
        )  # fmt: skip
        super().__init__(args, 0, Rope(args))

    def forward(  # type: ignore[override]
        self,
        x: torch.Tensor,
        freqs_cos: Any = None,
        freqs_sin: Any = None,
        _unused_attn_options: ForwardOptions | None = None,
    ) -> tuple[torch.Tensor, None]:
        return super().forward(x, freqs_cos, freqs_sin, _unused_attn_options or {}), None

    def reset_cache(self) -> None:
        self.conv.reset_cache()
