# SPDX-License-Identifier: BSD-3-Clause
"""Rows: small networks with the structures of those that users bring."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.export import Dim

from executorch.backends.test.corpus.convolutions import conv_bn, normalized
from executorch.backends.test.corpus.row import Row, numbers, row


class Residual(nn.Module):
    """Its input is added to what `body` makes of it."""

    def __init__(self, *body: nn.Module) -> None:
        super().__init__()
        self.body = nn.Sequential(*body)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x)


class Squeezed(nn.Module):
    """Channels weighed by what is in the whole image."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.down, self.up = nn.Conv2d(channels, 4, 1), nn.Conv2d(4, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        return x * F.hardsigmoid(self.up(F.relu(self.down(x.mean((2, 3), keepdim=True)))))


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inside = conv_bn(3, 8, 3, padding=1)
        self.below = conv_bn(8, 16, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(16, 8, 2, 2)
        self.head = nn.Conv2d(16, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        near = self.inside(x)
        return self.head(torch.cat([near, self.up(self.below(near))], 1))


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        split = [each.unflatten(-1, (self.heads, -1)).transpose(1, 2) for each in self._qkv(x)]
        found = F.scaled_dot_product_attention(*split)
        return self.out(found.transpose(1, 2).flatten(2))

    def _qkv(self, x: Tensor) -> tuple[Tensor, ...]:
        return self.qkv(x).chunk(3, -1)


def _encoder(width: int) -> nn.Module:
    return nn.Sequential(
        Residual(normalized(nn.LayerNorm(width)), Attention(width, 2)),
        Residual(
            normalized(nn.LayerNorm(width)),
            nn.Linear(width, 2 * width),
            nn.GELU(),
            nn.Linear(2 * width, width),
        ),
    )


class Patches(nn.Module):
    """A vision transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.encoder, self.head = nn.Conv2d(3, 16, 4, 4), _encoder(16), nn.Linear(16, 5)
        self.first = nn.Parameter(torch.linspace(-1, 1, 16).reshape(1, 1, 16))

    def forward(self, x: Tensor) -> Tensor:
        tokens = self.embed(x).flatten(2).transpose(1, 2)
        return self.head(self.encoder(torch.cat([self.first, tokens], 1))[:, 0])


class Words(nn.Module):
    """Recurrent layers over embedded words."""

    def __init__(self, kind: type[nn.Module]) -> None:
        super().__init__()
        self.embedding, self.layer = nn.Embedding(20, 6), kind(6, 8, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, words: Tensor) -> Tensor:
        return F.log_softmax(self.head(self.layer(self.embedding(words))[0][:, -1]), -1)


class Words1d(nn.Module):
    """Convolutions over embedded words, and the largest of each channel."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.layer = nn.Embedding(20, 6), nn.Conv1d(6, 8, 3, padding=1)

    def forward(self, words: Tensor) -> Tensor:
        return F.relu(self.layer(self.embedding(words).transpose(1, 2))).amax(2)


def _inverted(channels: int) -> nn.Module:
    wide = 3 * channels
    return Residual(
        conv_bn(channels, wide, 1),
        conv_bn(wide, wide, 3, padding=1, groups=wide),
        Squeezed(wide),
        nn.Conv2d(wide, channels, 1, bias=False),
        normalized(nn.BatchNorm2d(channels)),
    )


IMAGE, WORDS = numbers(1, 3, 16, 16), torch.arange(14).reshape(2, 7) % 20
_BATCH = {0: Dim("batch", min=1, max=8)}
NETWORKS: list[Row] = [
    row(
        "perceptron",
        nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 3)),
        numbers(4, 12),
    ),
    row(
        "convolutional classifier",
        nn.Sequential(
            conv_bn(3, 8, 3, padding=1),
            nn.MaxPool2d(2),
            conv_bn(8, 16, 3, padding=1),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(16, 10),
            nn.Softmax(-1),
        ),
        numbers(2, 3, 16, 16),
        dynamic_shapes=(_BATCH,),
        more=tuple((numbers(n, 3, 16, 16),) for n in (8, 1)),
    ),
    row(
        "residual",
        nn.Sequential(
            conv_bn(3, 8, 3, padding=1), Residual(conv_bn(8, 8, 3, padding=1), nn.Conv2d(8, 8, 1))
        ),
        IMAGE,
    ),
    row("inverted residual", nn.Sequential(conv_bn(3, 8, 3, stride=2), _inverted(8)), IMAGE),
    row("u-net", UNet(), IMAGE),
    row("autoencoder", nn.Sequential(nn.Linear(20, 4), nn.ELU(), nn.Linear(4, 20)), numbers(3, 20)),
    row(
        "transformer encoder",
        _encoder(8),
        numbers(2, 5, 8),
        dynamic_shapes=({1: Dim("length", min=2, max=16)},),
        more=tuple((numbers(2, n, 8),) for n in (2, 16)),
    ),
    row("vision transformer", Patches(), IMAGE),
    row("lstm of words", Words(nn.LSTM), WORDS),
    row("gru of words", Words(nn.GRU), WORDS),
    row("convolutions of words", Words1d(), WORDS),
    row(
        "separable audio classifier",
        nn.Sequential(
            nn.Conv1d(4, 4, 5, padding=2, groups=4),
            nn.Conv1d(4, 12, 1),
            normalized(nn.BatchNorm1d(12)),
            nn.SiLU(),
            nn.AvgPool1d(2),
            nn.Flatten(),
            nn.Linear(12 * 16, 5),
        ),
        numbers(2, 4, 32),
    ),
    row(
        "detail of an image",
        nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.PixelShuffle(2)),
        IMAGE,
    ),
]
FAMILIES = {"networks": NETWORKS}
