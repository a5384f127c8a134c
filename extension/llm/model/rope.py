# SPDX-License-Identifier: BSD-3-Clause
"""Rotary positions: tables of cos and sin, and the turning of queries and keys by them."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import nn

from executorch.extension.llm.model.args import ModelArgs

_OLD_CONTEXT = 8192  # what Llama 3 was trained with before 3.1 stretched it


def _stretched(frequencies: torch.Tensor, args: ModelArgs) -> torch.Tensor:
    """Llama 3.1: long waves get `rope_scale_factor` times longer, short ones stay, those between in proportion."""
    turns = (args.original_max_position_embeddings or _OLD_CONTEXT) * frequencies / (2 * math.pi)
    low, high = args.low_freq_factor, args.high_freq_factor
    share = ((turns - low) / (high - low)).clamp(0, 1)
    return (1 - share) * frequencies / args.rope_scale_factor + share * frequencies


def _long_rope(args: ModelArgs, rows: int) -> tuple[torch.Tensor, float]:
    """Divisors of the frequencies, and what cos and sin are multiplied by."""
    original = args.original_max_position_embeddings or args.max_context_len
    if args.rope_scaling_short_factor is None or args.rope_scaling_long_factor is None:
        raise ValueError("LongRoPE needs rope_scaling_short_factor and rope_scaling_long_factor")
    long = rows > original
    factors = args.rope_scaling_long_factor if long else args.rope_scaling_short_factor
    expected = args.rotary_dim // 2
    if len(factors) != expected:
        raise ValueError(
            f"rope_scaling factors: expected {expected} (half the rotated part of a head), found {len(factors)}"
        )
    magnitude = args.rope_scaling_attention_factor
    if magnitude is None:
        ratio = (args.max_position_embeddings or rows) / original
        magnitude = 1.0 if ratio <= 1 else math.sqrt(1 + math.log(ratio) / math.log(original))
    return torch.tensor(factors), magnitude


def token_positions(input_pos: torch.Tensor | None, seq_len: int) -> torch.Tensor:
    """Positions of a call's tokens, int64 (tokens,); `input_pos` (1,) is that of the first."""
    if input_pos is None:
        raise ValueError("input_pos: expected the position of the first token, found None")
    return input_pos[:1] + torch.arange(seq_len)


def rope_tables(
    args: ModelArgs, theta: float, stretch: bool = True
) -> tuple[torch.Tensor, torch.Tensor]:
    """cos and sin: (position, half the rotated width), or twice as wide with equal halves for `use_hf_rope`."""
    rows = args.max_context_len * (2 if args.ffn_dim_multiplier else 1)
    width = args.rotary_dim if args.use_hf_rope else args.head_dim
    frequencies = 1.0 / theta ** (torch.arange(0, width, 2, dtype=torch.float32) / width)
    magnitude = 1.0
    if stretch and args.use_scaled_rope:
        frequencies = _stretched(frequencies, args)
    if stretch:
        frequencies = frequencies / args.rope_linear_factor
    if stretch and args.rope_scaling_long_factor is not None:
        factors, magnitude = _long_rope(args, rows)
        frequencies = frequencies / factors
    angles = torch.outer(torch.arange(rows, dtype=torch.float32), frequencies)
    if args.use_hf_rope:
        angles = torch.cat((angles, angles), -1)
    return angles.cos() * magnitude, angles.sin() * magnitude


def turn_neighbors(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Turns elements (2i, 2i+1) of the last dimension; tables, half as wide, broadcast."""
    first, second = x.float().unflatten(-1, (-1, 2)).unbind(-1)
    pairs = (first * cos - second * sin, first * sin + second * cos)
    return torch.stack(pairs, -1).flatten(-2).type_as(x)


def turn_halves(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Turns elements (i, i + width / 2) of the first ones, as many as tables are wide."""
    width = cos.shape[-1]
    turned, passed = x[..., :width].float(), x[..., width:]
    first, second = turned[..., : width // 2], turned[..., width // 2 :]
    turned = turned * cos + torch.cat((-second, first), -1) * sin
    return torch.cat((turned.type_as(x), passed), -1) if passed.shape[-1] else turned.type_as(x)


def apply_rotary_emb(
    xq: torch.Tensor, xk: torch.Tensor, freqs_cos: torch.Tensor, freqs_sin: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Turns neighbors of (batch, tokens, heads, head); tables are (tokens, head / 2)."""
    cos, sin = freqs_cos.unsqueeze(-2), freqs_sin.unsqueeze(-2)
    return turn_neighbors(xq, cos, sin), turn_neighbors(xk, cos, sin)


def apply_half_rotary(
    xq: torch.Tensor, xk: torch.Tensor, freqs_cos: torch.Tensor, freqs_sin: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Turns halves of (batch, tokens, heads, head); tables are (tokens, turned elements)."""
    cos, sin = freqs_cos.unsqueeze(-2), freqs_sin.unsqueeze(-2)
    return turn_halves(xq, cos, sin), turn_halves(xk, cos, sin)


class RotaryEmbedding(nn.Module):
    """`apply_rotary_emb` as a module, so that a backend may replace it."""

    def forward(
        self, xq: torch.Tensor, xk: torch.Tensor, freqs_cos: torch.Tensor, freqs_sin: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return apply_rotary_emb(xq, xk, freqs_cos, freqs_sin)


class Rope(nn.Module):
    """Tables for all layers; sliding layers may have a base of their own (`local_rope_theta`)."""

    def __init__(self, params: ModelArgs) -> None:
        super().__init__()
        self.params = params
        # tables do not come from a checkpoint: real values even where parameters are on the meta device
        with torch.device("cpu"):
            self._tables("freqs", params.rope_freq_base)
            if params.local_rope_theta is not None:
                self._tables("local_freqs", params.local_rope_theta, stretch=False)

    def _tables(self, name: str, theta: float, stretch: bool = True) -> None:
        cos, sin = rope_tables(self.params, theta, stretch)
        self.register_buffer(f"{name}_cos", cos, persistent=False)
        self.register_buffer(f"{name}_sin", sin, persistent=False)

    def _apply(self, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> Rope:
        """Tables stay float32 whatever the model's type: half precision has no words for large angles."""
        return self

    def forward(
        self, q: torch.Tensor, k: torch.Tensor, freqs_cos: torch.Tensor, freqs_sin: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        turn = apply_half_rotary if self.params.use_hf_rope else apply_rotary_emb
        return turn(q, k, freqs_cos, freqs_sin)

    def get_freqs(
        self, input_pos: torch.Tensor | None, seq_len: int, local: bool = False
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """cos and sin of the tokens of a call, (tokens, width); `local` for sliding layers."""
        cos, sin = self.tables(local)
        if not self.params.use_kv_cache:
            return cos[:seq_len], sin[:seq_len]
        rows = self.rows(token_positions(input_pos, seq_len))
        return cos[rows], sin[rows]

    def tables(self, local: bool) -> tuple[torch.Tensor, torch.Tensor]:
        """cos and sin of all positions."""
        name = "local_freqs" if local and hasattr(self, "local_freqs_cos") else "freqs"
        return getattr(self, f"{name}_cos"), getattr(self, f"{name}_sin")

    def rows(self, positions: torch.Tensor) -> torch.Tensor:
        """Rows of the tables for positions in the text; attention sinks use fewer."""
        return positions

    def get_freqs_using_indices(self, indices: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """cos and sin at any positions."""
        return self.freqs_cos[indices], self.freqs_sin[indices]
