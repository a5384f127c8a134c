# SPDX-License-Identifier: BSD-3-Clause
"""The part of a layer that treats each token alone: one gated network, or a mixture of experts."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from executorch.extension.llm.model.args import ActFn, ModelArgs
from executorch.extension.llm.model.lora import LoRALinear, lora_call

# adapters name projections so (target_modules); the second column is our layer's name
FEED_FORWARD_TARGETS = {"gate_proj": "w1", "down_proj": "w2", "up_proj": "w3"}


class FeedForward(nn.Module):
    """w2(act(w1 x) * w3 x)."""

    def __init__(self, dim: int, hidden_dim: int, act_fn: ActFn = ActFn.SILU) -> None:
        super().__init__()
        self.w1 = nn.Linear(dim, hidden_dim, bias=False)
        self.w2 = nn.Linear(hidden_dim, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden_dim, bias=False)
        self.act_fn = act_fn

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.w2(self.act_fn(self.w1(x)) * self.w3(x))


class LoRAFeedForward(FeedForward):
    """A FeedForward whose layers in `args.target_modules` have adapters."""

    def __init__(self, dim: int, hidden_dim: int, args: ModelArgs) -> None:
        super().__init__(dim, hidden_dim, args.act_fn)
        if args.r is None or args.lora_alpha is None:
            raise ValueError("LoRA needs r (the rank) and lora_alpha")
        for target, name in FEED_FORWARD_TARGETS.items():
            if target in (args.target_modules or ()):
                plain = getattr(self, name)
                adapted = LoRALinear(plain.in_features, plain.out_features, args.r, args.lora_alpha)
                setattr(self, name, adapted)

    def forward(self, x: torch.Tensor, lora_blob: Any = None) -> torch.Tensor:
        gated = self.act_fn(lora_call(self.w1, x, lora_blob)) * lora_call(self.w3, x, lora_blob)
        return lora_call(self.w2, gated, lora_blob)


class ConditionalFeedForward(nn.Module):
    """The networks of all experts, stacked; a token reads those of its own experts only."""

    def __init__(self, args: ModelArgs, hidden: int) -> None:
        super().__init__()
        count, dim = args.num_experts, args.dim
        self.w1 = nn.Parameter(torch.randn(count, hidden, dim) * dim**-0.5)
        self.w2 = nn.Parameter(torch.randn(count, dim, hidden) * hidden**-0.5)
        self.w3 = nn.Parameter(torch.randn(count, hidden, dim) * dim**-0.5)
        self.act_fn = args.act_fn

    def forward(self, x: torch.Tensor, experts: torch.Tensor) -> torch.Tensor:
        """x (tokens, dim), experts int64 (tokens, chosen); gives (tokens, chosen, dim)."""
        column = x[:, None, :, None]
        inner = self.act_fn(self.w1[experts] @ column) * (self.w3[experts] @ column)
        return (self.w2[experts] @ inner).squeeze(-1)


class MOEFeedForward(nn.Module):
    """A gate scores the experts, the best few of each token compute, and their outputs are weighed."""

    def __init__(self, config: ModelArgs) -> None:
        super().__init__()
        hidden = config.moe_hidden_dim or config.hidden_dim
        self.gate = nn.Linear(config.dim, config.num_experts, bias=False)
        self.cond_ffn = ConditionalFeedForward(config, hidden)
        self.dim, self.chosen = config.dim, config.num_activated_experts
        self.score, self.scale = config.moe_score_func, config.moe_route_scale
        if self.score not in ("softmax", "softmax_all", "sigmoid"):
            raise ValueError(
                f"moe_score_func: expected sigmoid, softmax or softmax_all, found {self.score!r}"
            )
        self.expert_bias = (
            nn.Parameter(torch.zeros(config.num_experts)) if config.moe_use_expert_bias else None
        )
        shared = config.moe_shared_expert_hidden_dim
        self.shared_expert = FeedForward(config.dim, shared, config.act_fn) if shared else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = x.reshape(-1, self.dim)
        scores = self.gate(tokens).float()
        if self.score == "sigmoid":
            scores = scores.sigmoid()
        elif self.score == "softmax_all":
            scores = scores.softmax(-1)
        ranked = scores if self.expert_bias is None else scores + self.expert_bias
        experts = ranked.topk(self.chosen, -1).indices
        weights = scores.gather(-1, experts)
        if self.score == "softmax":
            weights = functional.softmax(weights, -1)
        elif self.score == "sigmoid":
            weights = weights / weights.sum(-1, keepdim=True)
        outputs = self.cond_ffn(tokens, experts)
        mixed = (outputs * (self.scale * weights).type_as(outputs).unsqueeze(-1)).sum(1)
        if self.shared_expert is not None:
            mixed = mixed + self.shared_expert(tokens)
        return mixed.reshape(x.shape)


def make_feed_forward(args: ModelArgs) -> nn.Module:
    if args.moe:
        return MOEFeedForward(args)
    if args.target_modules and FEED_FORWARD_TARGETS.keys() & set(args.target_modules):
        return LoRAFeedForward(args.dim, args.hidden_dim, args)
    return FeedForward(args.dim, args.hidden_dim, args.act_fn)
