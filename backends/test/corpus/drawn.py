# SPDX-License-Identifier: BSD-3-Clause
"""Rows: small networks of layers that a number draws."""

from __future__ import annotations

import random
from collections.abc import Callable

import torch
from torch import nn

from executorch.backends.test.corpus.row import Function, Row, row

Make = Callable[[random.Random, torch.Size], nn.Module]
COUNT = 16


def _conv(draw: random.Random, shape: torch.Size, **options: int) -> nn.Module:
    kernel = draw.choice([1, 2, 3])
    return nn.Conv2d(
        shape[1],
        draw.choice([1, 5, 8, 33]),
        kernel,
        stride=draw.choice([1, 2]),
        padding=draw.randrange(kernel),
        bias=draw.random() < 0.7,
        **options,
    )


def _depthwise(draw: random.Random, shape: torch.Size) -> nn.Module:
    return nn.Conv2d(shape[1], shape[1], 3, padding=1, groups=shape[1])


def _transposed(draw: random.Random, shape: torch.Size) -> nn.Module:
    return nn.ConvTranspose2d(shape[1], draw.choice([2, 7]), 2, stride=draw.choice([1, 2]))


def _group_norm(draw: random.Random, shape: torch.Size) -> nn.Module:
    return nn.GroupNorm(shape[1], shape[1])


def _function(function: Callable[[torch.Tensor], torch.Tensor]) -> Make:
    return lambda draw, shape: Function(function)


ANYWHERE: dict[str, Make] = {
    "relu": lambda d, s: nn.ReLU(),
    "relu6": lambda d, s: nn.ReLU6(),
    "hardtanh": lambda d, s: nn.Hardtanh(-0.7, 0.4),
    "leaky_relu": lambda d, s: nn.LeakyReLU(0.2),
    "elu": lambda d, s: nn.ELU(0.5),
    "sigmoid": lambda d, s: nn.Sigmoid(),
    "tanh": lambda d, s: nn.Tanh(),
    "hardswish": lambda d, s: nn.Hardswish(),
    "silu": lambda d, s: nn.SiLU(),
    "softmax": lambda d, s: nn.Softmax(-1),
    "layer_norm": lambda d, s: nn.LayerNorm(s[-1]),
    "linear": lambda d, s: nn.Linear(s[-1], d.choice([1, 3, 10, 31, 40])),
    "clamp": _function(lambda x: x.clamp(min=0.1)),
    "abs": _function(torch.abs),
    "residual": _function(lambda x: x + x.flip(-1)),
    "product": _function(lambda x: x * 0.5 - x.mean(-1, keepdim=True)),
    "maximum": _function(lambda x: torch.maximum(x, x.flip(-1))),
    "cat": _function(lambda x: torch.cat([x, -x], -1)),
    "slice": _function(lambda x: x[..., : max(1, x.shape[-1] - 1)]),
    "transpose": _function(lambda x: x.transpose(-1, -2)),
    "pad": _function(lambda x: nn.functional.pad(x, (1, 0))),
    "where": _function(lambda x: torch.where(x > 0, x, x * 0.1)),
}
IMAGES: dict[str, Make] = {
    "conv": _conv,
    "depthwise": _depthwise,
    "transposed": _transposed,
    "group_norm": _group_norm,
    "batch_norm": lambda d, s: nn.BatchNorm2d(s[1]),
    "prelu": lambda d, s: nn.PReLU(s[1]),
    "max_pool": lambda d, s: nn.MaxPool2d(2, 1, 1),
    "avg_pool": lambda d, s: nn.AvgPool2d(2, 1),
    "resize": lambda d, s: nn.Upsample(scale_factor=2),
    "global": lambda d, s: nn.AdaptiveAvgPool2d(1),
}


def network(draw: random.Random) -> tuple[list[str], nn.Module, torch.Tensor]:
    """Names of its layers, the network and an input."""
    is_image = draw.random() < 0.6
    sizes = [1, 2, 3, 5, 7, 9, 16]
    shape = [draw.choice([1, 2]), draw.choice([1, 3, 8]), draw.choice(sizes), draw.choice(sizes)]
    x = torch.randn(shape if is_image else shape[1:])
    kinds = {**ANYWHERE, **IMAGES} if is_image else ANYWHERE
    names: list[str] = []
    layers: list[nn.Module] = []
    value, depth = x, draw.randrange(4, 12)
    for _ in range(60):  # a layer that does not fit here is left out
        name = draw.choice(list(kinds))
        try:
            layer = kinds[name](draw, value.shape).eval()
            with torch.no_grad():
                after = layer(value)
        except (RuntimeError, ValueError):
            continue
        if 0 < after.numel() < 20_000:
            names.append(name)
            layers.append(layer)
            value = after
        if len(layers) == depth:
            break
    return names, nn.Sequential(*layers).eval(), x


def _row(seed: int) -> Row:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        names, module, x = network(random.Random(seed))
    return row(f"{seed} {' '.join(names)}", module, x, tolerance=2e-4)


DRAWN: list[Row] = [_row(seed) for seed in range(COUNT)]
FAMILIES = {"drawn networks": DRAWN}
