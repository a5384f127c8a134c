# SPDX-License-Identifier: BSD-3-Clause
"""The layers that drawn networks are made of, by what their values are.

image [N, C, H, W], signal [N, C, L], volume [N, C, D, H, W], sequence [N, L, C], rows [N, C].
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from executorch.backends.test.corpus.row import Function


@dataclass(frozen=True)
class Draw:
    """Random choices: `widths` of layers, `sizes` of images and of others' lengths."""

    random: random.Random
    widths: tuple[int, ...]
    sizes: tuple[int, ...]

    def width(self) -> int:
        return self.random.choice(self.widths)

    def size(self) -> int:
        return self.random.choice(self.sizes)

    def of(self, *choices: int) -> int:
        return self.random.choice(choices)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def divisor(self, number: int) -> int:
        return self.random.choice([each for each in range(1, number + 1) if number % each == 0])


_MAX_STEPS = 16  # of recurrent layers
Make = Callable[[Draw, torch.Size], nn.Module]
Function1 = Callable[[torch.Tensor], torch.Tensor]


def _always(function: Function1) -> Make:
    return lambda draw, shape: Function(function)


_CONVOLUTIONS = {3: nn.Conv1d, 4: nn.Conv2d, 5: nn.Conv3d}
_TRANSPOSED = {3: nn.ConvTranspose1d, 4: nn.ConvTranspose2d, 5: nn.ConvTranspose3d}


def _convolution(draw: Draw, shape: torch.Size) -> nn.Module:
    sizes = len(shape) - 2
    kernel = tuple(draw.of(1, 1, 2, 3, 3, 5, 7) for _ in range(sizes))
    if draw.chance(0.6):
        kernel = kernel[:1] * sizes
    groups = draw.divisor(shape[1]) if draw.chance(0.25) else 1
    return _CONVOLUTIONS[len(shape)](
        shape[1],
        groups * draw.of(1, 2, 4, 8) if groups > 1 else draw.width(),
        kernel,
        stride=draw.of(1, 1, 1, 2, 3),
        padding=tuple(draw.random.randrange(each) for each in kernel),
        dilation=draw.of(1, 1, 1, 2),
        groups=groups,
        bias=draw.chance(0.7),
    )


def _depthwise(draw: Draw, shape: torch.Size) -> nn.Module:
    kernel = draw.of(2, 3, 3, 5, 7)
    return _CONVOLUTIONS[len(shape)](
        shape[1],
        shape[1] * draw.of(1, 1, 1, 2),
        kernel,
        stride=draw.of(1, 1, 2),
        padding=draw.random.randrange(kernel),
        groups=shape[1],
        bias=draw.chance(0.7),
    )


def _transposed(draw: Draw, shape: torch.Size) -> nn.Module:
    kernel, stride = draw.of(1, 2, 2, 3, 4), draw.of(1, 2, 2, 3)
    if draw.chance(0.4):
        kernel = stride
    return _TRANSPOSED[len(shape)](
        shape[1],
        draw.width(),
        kernel,
        stride=stride,
        padding=draw.random.randrange((kernel + 1) // 2),
        output_padding=draw.random.randrange(stride) if draw.chance(0.2) else 0,
        groups=draw.of(1, 1, 1, shape[1]) if shape[1] < 9 else 1,
        bias=draw.chance(0.7),
    )


def _residual(draw: Draw, shape: torch.Size) -> nn.Module:
    """x + f(x), of an inverted bottleneck or two convolutions."""
    conv, kernel = _CONVOLUTIONS[len(shape)], draw.of(1, 3, 5)
    middle = draw.width()
    body = nn.Sequential(
        conv(shape[1], middle, 1 if draw.chance(0.5) else kernel, padding="same"),
        nn.ReLU() if draw.chance(0.5) else nn.SiLU(),
        conv(middle, middle, kernel, padding="same", groups=draw.divisor(middle)),
        conv(middle, shape[1], 1),
    )
    return Residual(body)


class Residual(nn.Module):
    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.body = body

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.body(x)


class Gate(nn.Module):
    """Squeeze and excite."""

    def __init__(self, channels: int, middle: int) -> None:
        super().__init__()
        self.narrow, self.wide = nn.Linear(channels, middle), nn.Linear(middle, channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mean = x.flatten(2).mean(-1)
        gate = self.wide(self.narrow(mean).relu()).sigmoid()
        return x * gate.reshape(gate.shape + (1,) * (x.dim() - 2))


class Attention(nn.Module):
    """Of `heads`, with keys of `shared` of them where several queries share one."""

    def __init__(self, channels: int, heads: int, is_causal: bool) -> None:
        super().__init__()
        self.heads, self.is_causal = heads, is_causal
        self.qkv, self.out = nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(
            parts[0], parts[1], parts[2], is_causal=self.is_causal
        )
        return self.out(mixed.transpose(1, 2).flatten(2))


def _attention(draw: Draw, shape: torch.Size) -> nn.Module:
    heads = draw.divisor(shape[-1])
    return Attention(shape[-1], heads, draw.chance(0.4))


class Recurrent(nn.Module):
    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.body = body

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x)[0]


def _recurrent(draw: Draw, shape: torch.Size) -> nn.Module:
    if shape[1] > _MAX_STEPS:
        raise ValueError("exporting writes each step out")
    kind = draw.random.choice([nn.LSTM, nn.GRU, nn.RNN])
    width = draw.random.choice([each for each in draw.widths if each <= 128])
    return Recurrent(
        kind(
            shape[-1],
            width,
            num_layers=draw.of(1, 1, 2),
            batch_first=True,
            bidirectional=draw.chance(0.3),
        )
    )


def _feed_forward(draw: Draw, shape: torch.Size) -> nn.Module:
    middle = draw.width()
    act = nn.GELU(approximate="tanh" if draw.chance(0.5) else "none")
    return Residual(
        nn.Sequential(
            nn.LayerNorm(shape[-1]),
            nn.Linear(shape[-1], middle),
            act,
            nn.Linear(middle, shape[-1]),
        )
    )


def _group_norm(draw: Draw, shape: torch.Size) -> nn.Module:
    return nn.GroupNorm(draw.divisor(shape[1]), shape[1])


def _batch_norm(draw: Draw, shape: torch.Size) -> nn.Module:
    return {3: nn.BatchNorm1d, 4: nn.BatchNorm2d, 5: nn.BatchNorm3d}[len(shape)](shape[1])


_POOLS = {
    3: (nn.MaxPool1d, nn.AvgPool1d, nn.AdaptiveAvgPool1d),
    4: (nn.MaxPool2d, nn.AvgPool2d, nn.AdaptiveAvgPool2d),
    5: (nn.MaxPool3d, nn.AvgPool3d, nn.AdaptiveAvgPool3d),
}


def _max_pool(draw: Draw, shape: torch.Size) -> nn.Module:
    kernel = draw.of(2, 2, 3)
    return _POOLS[len(shape)][0](kernel, draw.of(1, 2), draw.of(0, 1))


def _avg_pool(draw: Draw, shape: torch.Size) -> nn.Module:
    return _POOLS[len(shape)][1](draw.of(2, 3), draw.of(1, 2), draw.of(0, 1))


def _adaptive_pool(draw: Draw, shape: torch.Size) -> nn.Module:
    return _POOLS[len(shape)][2](draw.of(1, 1, 2, 3))


def _resize(draw: Draw, shape: torch.Size) -> nn.Module:
    mode = draw.random.choice(
        {3: ["nearest", "linear"], 4: ["nearest", "bilinear", "bicubic"]}[len(shape)]
    )
    corners = draw.chance(0.4) if mode != "nearest" else None
    if draw.chance(0.6):
        return nn.Upsample(scale_factor=draw.of(2, 2, 3), mode=mode, align_corners=corners)
    sizes = tuple(max(1, each * draw.of(2, 3, 5) // 3) for each in shape[2:])
    return nn.Upsample(size=sizes, mode=mode, align_corners=corners)


def _linear(draw: Draw, shape: torch.Size) -> nn.Module:
    return nn.Linear(shape[-1], draw.width(), bias=draw.chance(0.8))


def _slice(draw: Draw, shape: torch.Size) -> nn.Module:
    dim = draw.random.randrange(1, len(shape))
    first = draw.random.randrange(shape[dim])
    step = draw.of(1, 1, 2)
    return Function(lambda x: x.movedim(dim, -1)[..., first::step].movedim(-1, dim))


def _dims(draw: Draw, shape: torch.Size) -> int:
    return draw.random.randrange(1, len(shape))


def _softmax(draw: Draw, shape: torch.Size) -> nn.Module:
    return nn.Softmax(_dims(draw, shape))


def _cat(draw: Draw, shape: torch.Size) -> nn.Module:
    dim = _dims(draw, shape)
    return Function(lambda x: torch.cat([x, x.sigmoid()], dim))


def _mean(draw: Draw, shape: torch.Size) -> nn.Module:
    dim = _dims(draw, shape)
    return Function(lambda x: x - x.mean(dim, keepdim=True))


def _shuffle(draw: Draw, shape: torch.Size) -> nn.Module:
    groups = draw.divisor(shape[1])
    return Function(lambda x: x.unflatten(1, (groups, -1)).transpose(1, 2).flatten(1, 2))


ANYWHERE: dict[str, Make] = {
    "relu": lambda d, s: nn.ReLU(),
    "relu6": lambda d, s: nn.ReLU6(),
    "hardtanh": lambda d, s: nn.Hardtanh(-0.7, 0.4),
    "leaky_relu": lambda d, s: nn.LeakyReLU(0.2),
    "elu": lambda d, s: nn.ELU(0.5),
    "gelu": lambda d, s: nn.GELU("tanh" if d.chance(0.5) else "none"),
    "sigmoid": lambda d, s: nn.Sigmoid(),
    "tanh": lambda d, s: nn.Tanh(),
    "hardswish": lambda d, s: nn.Hardswish(),
    "hardsigmoid": lambda d, s: nn.Hardsigmoid(),
    "silu": lambda d, s: nn.SiLU(),
    "mish": lambda d, s: nn.Mish(),
    "softplus": lambda d, s: nn.Softplus(),
    "softmax": _softmax,
    "layer_norm": lambda d, s: nn.LayerNorm(s[-1]),
    "rms_norm": lambda d, s: nn.RMSNorm(s[-1], eps=1e-5),
    "linear": _linear,
    "clamp": _always(lambda x: x.clamp(min=-0.5)),
    "abs": _always(torch.abs),
    "residual": _always(lambda x: x + x.flip(-1)),
    "product": _always(lambda x: x * 0.5 - x.mean(-1, keepdim=True)),
    "maximum": _always(lambda x: torch.maximum(x, x.flip(-1))),
    "square": _always(lambda x: x * x.sigmoid() - (x * x).clamp(max=2.0)),
    "cat": _cat,
    "mean": _mean,
    "slice": _slice,
    "transpose": _always(lambda x: x.transpose(-1, -2)),
    "pad": _always(lambda x: nn.functional.pad(x, (1, 0))),
    "where": _always(lambda x: torch.where(x > 0, x, x * 0.1)),
    "gather": _always(lambda x: x.index_select(-1, torch.arange(x.shape[-1] - 1, -1, -2))),
}
_CHANNELS: dict[str, Make] = {
    "conv": _convolution,
    "depthwise": _depthwise,
    "transposed": _transposed,
    "residual block": _residual,
    "gate": lambda d, s: Gate(s[1], d.random.choice([4, 16, 70])),
    "group_norm": _group_norm,
    "batch_norm": _batch_norm,
    "prelu": lambda d, s: nn.PReLU(s[1]),
    "max_pool": _max_pool,
    "avg_pool": _avg_pool,
    "adaptive": _adaptive_pool,
    "shuffle": _shuffle,
}
# What takes values of each kind to the same kind.
LAYERS: dict[str, dict[str, Make]] = {
    "image": {
        **_CHANNELS,
        "instance_norm": lambda d, s: nn.InstanceNorm2d(s[1], affine=True),
        "resize": _resize,
        "pixel_shuffle": lambda d, s: nn.PixelShuffle(2),
        "reflect": lambda d, s: nn.ReflectionPad2d(1),
    },
    "signal": {**_CHANNELS, "resize": _resize},
    "volume": _CHANNELS,
    "sequence": {
        "attention": _attention,
        "transformer layer": lambda d, s: nn.Sequential(
            Residual(nn.Sequential(nn.LayerNorm(s[-1]), _attention(d, s))), _feed_forward(d, s)
        ),
        "feed_forward": _feed_forward,
        "recurrent": _recurrent,
        "linear": _linear,
    },
    "rows": {"linear": _linear, "feed_forward": _feed_forward},
}
# From one kind to another.
BRIDGES: dict[str, dict[str, Function1]] = {
    "image": {
        "sequence": lambda x: x.flatten(2).transpose(1, 2),
        "rows": lambda x: x.mean((2, 3)),
        "signal": lambda x: x.flatten(1, 2),
    },
    "signal": {"sequence": lambda x: x.transpose(1, 2), "image": lambda x: x.unsqueeze(2)},
    "volume": {"image": lambda x: x.mean(2), "signal": lambda x: x.flatten(2)},
    "sequence": {"signal": lambda x: x.transpose(1, 2), "rows": lambda x: x[:, -1]},
    "rows": {"sequence": lambda x: x.unsqueeze(1)},
}
RANKS = {"image": 4, "signal": 3, "volume": 5, "sequence": 3, "rows": 2}
