# SPDX-License-Identifier: BSD-3-Clause
"""A linear layer and a change of low rank beside it."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class LoRALinear(nn.Module):
    """linear(x) + alpha / rank * lora_b(lora_a(x)).

    A state dict may hold the plain layer's keys (`weight`); they are read as `linear.weight`.
    """

    def __init__(
        self,
        in_dim: int,
        out_dim: int,
        rank: int,
        alpha: float,
        dropout: float = 0.0,
        use_bias: bool = False,
    ) -> None:
        super().__init__()
        if rank < 1:
            raise ValueError(f"expected a rank of 1 or more, found {rank}")
        self.rank, self.alpha = rank, alpha
        self.linear = nn.Linear(in_dim, out_dim, bias=use_bias)
        self.dropout = nn.Dropout(dropout) if dropout > 0 else nn.Identity()
        self.lora_a = nn.Linear(in_dim, rank, bias=False)
        self.lora_b = nn.Linear(rank, out_dim, bias=False)
        self.register_load_state_dict_pre_hook(self._rename)

    @staticmethod
    def _rename(module: nn.Module, state: dict[str, Any], prefix: str, *_: Any) -> None:
        for name in ("weight", "bias"):
            if f"{prefix}{name}" in state:
                state[f"{prefix}linear.{name}"] = state.pop(f"{prefix}{name}")

    @property
    def weight(self) -> torch.Tensor:
        return self.linear.weight

    @property
    def bias(self) -> torch.Tensor | None:
        return self.linear.bias

    def forward(
        self,
        x: torch.Tensor,
        lora_a: torch.Tensor | None = None,
        lora_b: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Matrices of an adapter may come as arguments: (rank, in) and (out, rank)."""
        x_in = self.dropout(x)
        low = self.lora_a(x_in) if lora_a is None else nn.functional.linear(x_in, lora_a)
        change = self.lora_b(low) if lora_b is None else nn.functional.linear(low, lora_b)
        return self.linear(x) + (self.alpha / self.rank) * change


def lora_call(linear: nn.Module, x_in: torch.Tensor, lora_blob: Any) -> torch.Tensor:
    """Calls a layer with the adapter of a call, where it takes one."""
    if lora_blob is None or not isinstance(linear, LoRALinear):
        return linear(x_in)
    return linear(x_in, *lora_blob)
