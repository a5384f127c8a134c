# SPDX-License-Identifier: BSD-3-Clause
"""The method `embed` of a program (export.embed): ids (1, tokens) -> (1, width), the mean of the hidden states behind
the last norm, without a cache. Its weights are those of `forward`, which the file holds once."""

from __future__ import annotations

from dataclasses import replace

import torch

from executorch.extension.llm.export.config.llm_config import LlmConfig

EMBED = "embed"


class HiddenMean(torch.nn.Module):
    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model
        model.output, model.generate_full_logits = None, True

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.model(tokens).mean(1)


def without_cache(config: LlmConfig) -> LlmConfig:
    """The same model, computed whole at each call."""
    model = replace(
        config.model, use_kv_cache=False, use_sdpa_with_kv_cache=False, quantize_kv_cache=False
    )
    return replace(config, model=model, export=replace(config.export, max_sessions=1))
