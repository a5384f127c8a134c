# SPDX-License-Identifier: BSD-3-Clause
"""Norms over the last dimension, computed in float32."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from executorch.extension.llm.model.args import ModelArgs


class ScalelessRMSNorm(nn.Module):
    """x / sqrt(mean(x^2) + eps), in the type of x."""

    def __init__(self, dim: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def _normalized(self, x: torch.Tensor) -> torch.Tensor:
        x = x.float()
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.eps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._normalized(x).type_as(x)


class RMSNorm(ScalelessRMSNorm):
    """Times `weight`, or times 1 + `weight`. An offset norm multiplies before it rounds to the type of x."""

    def __init__(self, dim: int, eps: float = 1e-6, add_unit_offset: bool = False) -> None:
        super().__init__(dim, eps)
        self.add_unit_offset = add_unit_offset
        self.weight = nn.Parameter(torch.zeros(dim) if add_unit_offset else torch.ones(dim))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.add_unit_offset:
            return (self._normalized(x) * (1.0 + self.weight.float())).type_as(x)
        return self._normalized(x).type_as(x) * self.weight


class RMSNormWithInputScale(ScalelessRMSNorm):
    """Scales the input, then normalizes: `weight` changes only how components weigh against each other."""

    def __init__(self, dim: int, eps: float = 1e-5) -> None:
        super().__init__(dim, eps)
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._normalized(x * self.weight).type_as(x)


class RMSNormGated(nn.Module):
    """The norm of `hidden_states` times silu of `gate`."""

    def __init__(self, hidden_size: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.norm = ScalelessRMSNorm(hidden_size, eps)

    def forward(self, hidden_states: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
        normed = self.norm(hidden_states) * self.weight
        return (normed.float() * functional.silu(gate.float())).type_as(hidden_states)


def make_norm(args: ModelArgs, dim: int) -> nn.Module:
    """The norm that `norm_type` names."""
    if args.norm_type == "layernorm":
        return nn.LayerNorm(dim, eps=args.norm_eps)
    if args.norm_type not in ("rmsnorm", "gemma3"):
        raise ValueError(
            f"norm_type: expected rmsnorm, gemma3 or layernorm, found {args.norm_type!r}"
        )
    offset = args.norm_type == "gemma3" or args.rms_norm_add_unit_offset
    return RMSNorm(dim, args.norm_eps, offset)
