# SPDX-License-Identifier: BSD-3-Clause
"""Networks on sequences, sounds and points that `transformers` has no plain form of, after their papers."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

LAYERS, HEADS, PAST, HEAD = 4, 9, 255, 64
WIDTH = HEADS * HEAD


def cache_shapes() -> list[tuple[int, ...]]:
    """Keys and values of all layers."""
    return [(LAYERS, 1, HEADS, PAST, HEAD)] * 2


class _StepLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.RMSNorm(WIDTH) for _ in range(2))
        self.qkv, self.out = (
            nn.Linear(WIDTH, 3 * WIDTH, bias=False),
            nn.Linear(WIDTH, WIDTH, bias=False),
        )
        self.gate, self.up = (nn.Linear(WIDTH, 1536, bias=False) for _ in range(2))
        self.down = nn.Linear(1536, WIDTH, bias=False)

    def forward(self, x: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        split = self.qkv(self.norms[0](x)).view(1, 1, 3, HEADS, HEAD).permute(2, 0, 3, 1, 4)
        query, key, value = split.unbind(0)
        keys, values = torch.cat([keys, key], 2), torch.cat([values, value], 2)
        found = functional.scaled_dot_product_attention(query, keys, values)
        x = x + self.out(found.transpose(1, 2).reshape(1, 1, WIDTH))
        y = self.norms[1](x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y)), key, value


class DecodeStep(nn.Module):
    """One token of a decoder whose cache of 255 tokens is an input; its own keys and values are outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(_StepLayer() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, 8192, bias=False)

    def forward(self, x: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        new = []
        for number, layer in enumerate(self.layers):
            x, key, value = layer(x, keys[number], values[number])
            new.append((key, value))
        return self.head(x), *(torch.stack(each) for each in zip(*new))


class Lstm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.out = nn.LSTM(256, 256, batch_first=True), nn.Linear(256, 64)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.lstm(x)[0])


class LstmStep(nn.Module):
    """One step of streaming recognition: input, hidden state and cell in, hidden state and cell out."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(256, 512)

    def forward(self, x: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        return self.cell(x, (hidden, cell))


class Gru(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(128, 128, num_layers=2, batch_first=True, bidirectional=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.gru(x)[0]


class _Gated(nn.Module):
    def __init__(self, width: int, dilation: int) -> None:
        super().__init__()
        self.filter, self.gate = (
            nn.Conv1d(width, width, 3, padding=dilation, dilation=dilation) for _ in range(2)
        )
        self.out = nn.Conv1d(width, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.out(torch.tanh(self.filter(x)) * torch.sigmoid(self.gate(x)))


class WaveNet(nn.Sequential):
    """van den Oord et al., 2016: dilated gated convolutions, 64 channels, eight layers."""

    def __init__(self) -> None:
        layers = (_Gated(64, 2**number) for number in range(8))
        super().__init__(nn.Conv1d(1, 64, 1), *layers, nn.ReLU(), nn.Conv1d(64, 256, 1))


class _Sum(nn.Module):
    """Residual branches of three kernels, averaged (Kong et al., 2020)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.branches = nn.ModuleList(
            nn.Sequential(
                nn.LeakyReLU(0.1),
                nn.Conv1d(width, width, kernel, padding=kernel // 2),
                nn.LeakyReLU(0.1),
                nn.Conv1d(width, width, kernel, padding=kernel // 2 * 3, dilation=3),
            )
            for kernel in (3, 7, 11)
        )

    def forward(self, x: Tensor) -> Tensor:
        return sum(x + branch(x) for branch in self.branches) / len(self.branches)


class Vocoder(nn.Sequential):
    """Kong et al., 2020 (HiFi-GAN), small: spectra to sound by transposed convolutions."""

    def __init__(self) -> None:
        layers: list[nn.Module] = [nn.Conv1d(80, 256, 7, padding=3)]
        width = 256
        for rate in (8, 8, 4):
            layers += [nn.LeakyReLU(0.1)]
            layers += [nn.ConvTranspose1d(width, width // 2, 2 * rate, rate, rate // 2)]
            width //= 2
            layers.append(_Sum(width))
        super().__init__(*layers, nn.LeakyReLU(), nn.Conv1d(width, 1, 7, padding=3), nn.Tanh())


class KeywordCnn(nn.Sequential):
    """Sainath and Parada, 2015: few wide filters on a spectrogram."""

    def __init__(self) -> None:
        super().__init__(
            nn.Conv2d(1, 64, (20, 8)),
            nn.ReLU(),
            nn.MaxPool2d((1, 3)),
            nn.Conv2d(64, 64, (10, 4)),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d((4, 4)),
            nn.Flatten(),
            nn.Linear(1024, 12),
        )


class _Depthwise(nn.Module):
    def __init__(self, width: int, dilation: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(width, 2 * width, 1),
            nn.PReLU(),
            nn.GroupNorm(1, 2 * width),
            nn.Conv1d(
                2 * width, 2 * width, 3, padding=dilation, dilation=dilation, groups=2 * width
            ),
            nn.PReLU(),
            nn.Conv1d(2 * width, width, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x)


class Temporal(nn.Sequential):
    """Luo and Mesgarani, 2018 (Conv-TasNet): depthwise dilated blocks."""

    def __init__(self) -> None:
        super().__init__(*(_Depthwise(64, 2**number) for number in range(6)))


class PointNet(nn.Module):
    """Qi et al., 2016, without its alignment networks."""

    def __init__(self) -> None:
        super().__init__()
        widths = (3, 64, 128, 1024)
        self.points = nn.Sequential(
            *(
                nn.Sequential(nn.Conv1d(a, b, 1), nn.BatchNorm1d(b), nn.ReLU())
                for a, b in zip(widths, widths[1:])
            )
        )
        self.head = nn.Sequential(nn.Linear(1024, 256), nn.ReLU(), nn.Linear(256, 40))

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.points(x).amax(-1))


class _Masking(nn.Module):
    def __init__(self, width: int, inner: int, dilation: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(width, inner, 1),
            nn.PReLU(),
            nn.GroupNorm(1, inner),
            nn.Conv1d(inner, inner, 3, 1, dilation, dilation, inner),
            nn.PReLU(),
            nn.GroupNorm(1, inner),
        )
        self.on, self.out = nn.Conv1d(inner, width, 1), nn.Conv1d(inner, width, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = self.body(x)
        return x + self.on(y), self.out(y)


class Separation(nn.Module):
    """Luo and Mesgarani, 2018 (Conv-TasNet): two voices out of one second, six layers."""

    def __init__(self) -> None:
        super().__init__()
        self.encode, self.decode = (
            nn.Conv1d(1, 256, 16, 8, bias=False),
            nn.ConvTranspose1d(256, 1, 16, 8, bias=False),
        )
        self.narrow = nn.Sequential(nn.GroupNorm(1, 256), nn.Conv1d(256, 128, 1))
        self.layers = nn.ModuleList(_Masking(128, 256, 2**number) for number in range(6))
        self.masks = nn.Sequential(nn.PReLU(), nn.Conv1d(128, 512, 1), nn.Sigmoid())

    def forward(self, wave: Tensor) -> Tensor:
        coded = self.encode(wave)
        x, total = self.narrow(coded), 0.0
        for layer in self.layers:
            x, found = layer(x)
            total = total + found
        return self.decode((self.masks(total).view(2, 256, -1) * coded).view(2, 256, -1))


class GraphAttention(nn.Module):
    """Velickovic et al., 2018: what nodes hear from their neighbours over a list of edges, four heads."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.out = nn.Linear(64, 128), nn.Linear(128, 16)
        self.source_score, self.target_score = nn.Linear(128, 4), nn.Linear(128, 4)

    def forward(self, x: Tensor, source: Tensor, target: Tensor) -> Tensor:
        h, count = self.inner(x), x.shape[0]
        score = functional.leaky_relu(
            self.source_score(h)[source] + self.target_score(h)[target], 0.2
        ).exp()
        total = x.new_zeros(count, 4).index_add(0, target, score)
        scaled = (h[source].view(-1, 4, 32) * score[:, :, None]).flatten(1)
        heard = x.new_zeros(count, 128).index_add(0, target, scaled).view(count, 4, 32)
        return self.out(functional.elu((heard / (total[:, :, None] + 1e-6)).flatten(1)))
