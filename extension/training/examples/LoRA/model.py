# SPDX-License-Identifier: BSD-3-Clause
"""A small language model on bytes, of which only an adapter of low rank (LoRA) learns."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.transformer import Transformer, construct_transformer

ARGUMENTS = ModelArgs(
    dim=64,
    n_layers=2,
    n_heads=4,
    n_kv_heads=2,
    vocab_size=256,
    hidden_dim=128,
    max_seq_len=128,
    max_context_len=128,
    generate_full_logits=True,
    r=4,
    lora_alpha=8,
    target_modules=["q_proj", "v_proj", "down_proj"],
)


def adapted(model: Transformer) -> Transformer:
    """Freezes all but the adapter, which begins as no change."""
    for name, parameter in model.named_parameters():
        parameter.requires_grad_("lora_" in name)
        if "lora_b" in name:
            nn.init.zeros_(parameter)
    return model


def small_language_model() -> Transformer:
    torch.manual_seed(0)
    return adapted(construct_transformer(ARGUMENTS))


class NextToken(nn.Module):
    """tokens int64 [batch, n + 1] -> the mean loss of predicting each from those before."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor) -> Tensor:
        logits = self.model(tokens[:, :-1])
        return nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
