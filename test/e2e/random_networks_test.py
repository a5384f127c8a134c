# SPDX-License-Identifier: BSD-3-Clause
"""Small networks of layers drawn at random, odd shapes, special values: eager beside our kernels and XNNPACK."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable

import pytest
import torch
from torch import nn

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

Make = Callable[[random.Random, torch.Size], nn.Module]
SPECIAL = (float("nan"), float("inf"), float("-inf"), -0.0, 1e-40, 0.0)
# What rounding leaves of a network's own size of numbers.
TOLERANCE = {torch.float32: 2e-4, torch.float16: 2e-2, torch.bfloat16: 1e-1}
SAMPLE, ALL = 16, 250


class Call(nn.Module):
    def __init__(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x)


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
    return lambda draw, shape: Call(function)


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


def compare(found: torch.Tensor, expected: torch.Tensor, tolerance: float, words: str) -> None:
    lost = expected.isnan() & ~found.isnan()
    assert not lost.any(), f"{words}: NaN became {found[lost][:4].tolist()}"
    finite = expected.isfinite() & ~found.isnan()
    size = expected[finite].abs().max().item() if finite.any() else 0.0
    torch.testing.assert_close(
        found[finite], expected[finite], rtol=tolerance, atol=tolerance * max(size, 1e-3),
        msg=lambda text: f"{words}: {text}",
    )  # fmt: skip


@pytest.mark.parametrize(
    "seed",
    [pytest.param(n, marks=[] if n < SAMPLE else pytest.mark.full) for n in range(ALL)],
)
def test_a_network_computes_what_eager_does(seed: int) -> None:
    draw = random.Random(seed)
    torch.manual_seed(seed)
    names, module, x = network(draw)
    dtype = draw.choice([torch.float32, torch.float32, torch.float16, torch.bfloat16])
    runs = {"kernels": (dtype, []), "xnnpack": (torch.float32, [XnnpackPartitioner()])}
    for kind, (dtype, partitioner) in runs.items():
        module = module.to(dtype)
        inputs = (x.to(dtype),)
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            exported = torch.export.export(module, inputs)
            manager = to_edge_transform_and_lower(exported, partitioner=partitioner)
            program = _load_for_executorch_from_buffer(manager.to_executorch().buffer)
            for value in (None, *SPECIAL):
                values = x.to(dtype, copy=True)
                if value is not None:
                    values.view(-1)[draw.randrange(values.numel()) :: 7] = value
                expected = module(values)
                found = program.forward((values,))[0]
                assert found.dtype == expected.dtype and found.shape == expected.shape
                words = f"{kind} {dtype} {value} {names} {tuple(x.shape)}"
                compare(found.float(), expected.float(), TOLERANCE[dtype], words)
