# SPDX-License-Identifier: BSD-3-Clause
"""A small decoder in the manner of Llama: rotary positions, grouped queries, RMS norms, gated feed-forward.

With `cache=True` keys and values of earlier calls live in buffers, and the second input says where the
tokens of this call stand.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional


@dataclass(frozen=True)
class Shape:
    width: int = 128
    layers: int = 2
    heads: int = 4
    kv_heads: int = 2
    inner: int = 344
    vocabulary: int = 512
    longest: int = 64

    @property
    def head_width(self) -> int:
        return self.width // self.heads


def rotary_tables(shape: Shape) -> tuple[torch.Tensor, torch.Tensor]:
    """cos and sin of every angle: (position, half a head)."""
    half = shape.head_width // 2
    frequencies = 10000.0 ** (-torch.arange(half, dtype=torch.float32) / half)
    angles = torch.outer(torch.arange(shape.longest, dtype=torch.float32), frequencies)
    return angles.cos(), angles.sin()


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Turns (batch, heads, tokens, head) by position; the two halves of a head are the coordinates."""
    first, second = x.chunk(2, -1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)


class RMSNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


class CachedAttention(nn.Module):
    def __init__(self, shape: Shape, cache: bool) -> None:
        super().__init__()
        self.shape = shape
        kv_width = shape.kv_heads * shape.head_width
        self.query = nn.Linear(shape.width, shape.width, bias=False)
        self.key = nn.Linear(shape.width, kv_width, bias=False)
        self.value = nn.Linear(shape.width, kv_width, bias=False)
        self.out = nn.Linear(shape.width, shape.width, bias=False)
        if cache:
            room = (1, shape.kv_heads, shape.longest, shape.head_width)
            self.register_buffer("keys", torch.zeros(room))
            self.register_buffer("values", torch.zeros(room))
        self.cache = cache

    def _split(self, x: torch.Tensor, heads: int) -> torch.Tensor:
        return x.view(x.shape[0], x.shape[1], heads, self.shape.head_width).transpose(1, 2)

    def forward(
        self,
        x: torch.Tensor,
        positions: torch.Tensor | None,
        angles: tuple[torch.Tensor, torch.Tensor],
        mask: torch.Tensor,
    ) -> torch.Tensor:
        query = rotate(self._split(self.query(x), self.shape.heads), *angles)
        key = rotate(self._split(self.key(x), self.shape.kv_heads), *angles)
        value = self._split(self.value(x), self.shape.kv_heads)
        if self.cache:
            self.keys[:, :, positions] = key
            self.values[:, :, positions] = value
            key, value = self.keys, self.values
        repeats = self.shape.heads // self.shape.kv_heads
        key, value = (t.repeat_interleave(repeats, 1) for t in (key, value))
        y = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return self.out(y.transpose(1, 2).reshape(x.shape))


class DecoderLayer(nn.Module):
    def __init__(self, shape: Shape, cache: bool) -> None:
        super().__init__()
        self.norm1, self.attention = RMSNorm(shape.width), CachedAttention(shape, cache)
        self.norm2 = RMSNorm(shape.width)
        self.gate = nn.Linear(shape.width, shape.inner, bias=False)
        self.up = nn.Linear(shape.width, shape.inner, bias=False)
        self.down = nn.Linear(shape.inner, shape.width, bias=False)

    def forward(
        self,
        x: torch.Tensor,
        positions: torch.Tensor | None,
        angles: tuple[torch.Tensor, torch.Tensor],
        mask: torch.Tensor,
    ) -> torch.Tensor:
        x = x + self.attention(self.norm1(x), positions, angles, mask)
        y = self.norm2(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class LlamaStyle(nn.Module):
    """Token ids (1, n) in, logits (1, n, vocabulary) out; with a cache also positions (n,) in."""

    def __init__(self, shape: Shape | None = None, cache: bool = False) -> None:
        super().__init__()
        self.shape = shape = shape or Shape()
        self.words = nn.Embedding(shape.vocabulary, shape.width)
        self.layers = nn.ModuleList(DecoderLayer(shape, cache) for _ in range(shape.layers))
        self.norm = RMSNorm(shape.width)
        self.head = nn.Linear(shape.width, shape.vocabulary, bias=False)
        cos, sin = rotary_tables(shape)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        lower = torch.tril(torch.ones(shape.longest, shape.longest, dtype=torch.bool))
        self.register_buffer("causal", lower, persistent=False)

    def forward(self, ids: torch.Tensor, positions: torch.Tensor | None = None) -> torch.Tensor:
        if positions is None:
            count = ids.shape[1]
            angles, mask = (self.cos[:count], self.sin[:count]), self.causal[:count, :count]
        else:
            angles, mask = (self.cos[positions], self.sin[positions]), self.causal[positions]
        x = self.words(ids)
        for layer in self.layers:
            x = layer(x, positions, angles, mask)
        return self.head(self.norm(x))
