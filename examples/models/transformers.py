# SPDX-License-Identifier: BSD-3-Clause
"""A vision transformer (Dosovitskiy et al., 2020, the tiny size) and a BERT encoder (Devlin et al., 2018)."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional


class Attention(nn.Module):
    """Multi-head self-attention over (batch, tokens, width)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        batch, tokens, width = x.shape
        shape = (batch, tokens, self.heads, width // self.heads)
        query, key, value = (
            project(x).view(shape).transpose(1, 2) for project in (self.query, self.key, self.value)
        )
        y = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return self.out(y.transpose(1, 2).reshape(batch, tokens, width))


class FeedForward(nn.Sequential):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__(nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width))


class VisionLayer(nn.Module):
    """Normalise first, then attend or transform, then add."""

    def __init__(self, width: int, heads: int, inner: int) -> None:
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(width), Attention(width, heads)
        self.norm2, self.transform = nn.LayerNorm(width), FeedForward(width, inner)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.transform(self.norm2(x))


class VisionTransformer(nn.Module):
    def __init__(
        self, width: int = 192, layers: int = 12, heads: int = 3, patch: int = 16, image: int = 224
    ) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.class_token = nn.Parameter(torch.randn(1, 1, width))
        self.positions = nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, width) * 0.5)
        self.layers = nn.Sequential(*(VisionLayer(width, heads, 4 * width) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 1000)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = self.patches(x).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.class_token.expand(x.shape[0], -1, -1), tokens], 1)
        return self.head(self.norm(self.layers(tokens + self.positions))[:, 0])


class EncoderLayer(nn.Module):
    """Attend or transform, add, then normalise."""

    def __init__(self, width: int, heads: int, inner: int) -> None:
        super().__init__()
        self.attention, self.norm1 = Attention(width, heads), nn.LayerNorm(width)
        self.transform, self.norm2 = FeedForward(width, inner), nn.LayerNorm(width)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + self.transform(x))


class Bert(nn.Module):
    """Token ids and a 0/1 attention mask in; hidden states of all tokens and the pooled first one out."""

    def __init__(
        self,
        vocabulary: int = 8192,
        width: int = 256,
        layers: int = 4,
        heads: int = 4,
        longest: int = 512,
    ) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(vocabulary, width), nn.Embedding(longest, width)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(EncoderLayer(width, heads, 4 * width) for _ in range(layers))
        self.pooler = nn.Linear(width, width)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        places = torch.arange(ids.shape[1], device=ids.device)
        x = self.norm(self.words(ids) + self.places(places))
        bias = (1.0 - mask[:, None, None, :].to(x.dtype)) * -10000.0
        for layer in self.layers:
            x = layer(x, bias)
        return x, torch.tanh(self.pooler(x[:, 0]))
