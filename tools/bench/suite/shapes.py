# SPDX-License-Identifier: BSD-3-Clause
"""Single layers of drawn shapes, as rows of the benchmark suite: nobody chose them, so nothing can be tuned to them.

Sizes are drawn evenly on a logarithmic scale; half of those above 16 are multiples of 8, as in most networks. A draw
whose work or memory is out of bounds is thrown away.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from executorch.tools.bench.suite.network import Network

MAX_ELEMENTS = 1 << 23  # of a tensor
WORK = (1 << 16, 1 << 29)  # multiply-adds, or elements times what one costs


@dataclass(frozen=True)
class Layer:
    """`inputs`: the shapes of floats; `width` and `work`: the axes of its family's heat map; `others`: the elements of
    its weight or result, where that may be larger than the inputs."""

    label: str
    module: Callable[[], nn.Module]
    inputs: tuple[tuple[int, ...], ...]
    width: int
    work: int
    others: int = 0

    def fits(self) -> bool:
        largest = max(self.others, *(math.prod(shape) for shape in self.inputs))
        return largest <= MAX_ELEMENTS and WORK[0] <= self.work <= WORK[1]


class Apply(nn.Module):
    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self._function(*inputs)


class Draw(random.Random):
    def size(self, low: int, high: int) -> int:
        drawn = round(2 ** self.uniform(math.log2(low), math.log2(high)))
        return drawn // 8 * 8 if drawn > 16 and self.random() < 0.5 else drawn


CONVOLUTIONS = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}


def convolution(draw: Draw, rank: int, groups: Callable[[Draw, int], int] | None = None) -> Layer:
    channels = draw.size(1, 2048)
    count = groups(draw, channels) if groups else 1
    outputs = channels if count == channels else draw.size(1, 2048 // count) * count
    channels = channels // count * count
    kernel = draw.choice((1, 1, 3, 3, 3, 5, 7, 11))
    stride, dilation = draw.choice((1, 1, 1, 2)), draw.choice((1, 1, 1, 1, 2))
    length = draw.size(kernel, {1: 8192, 2: 512, 3: 64}[rank])
    shape = (1, channels, *[length] * rank)
    positions = (length // stride) ** rank
    return Layer(
        f"{channels}>{outputs} k{kernel} s{stride} d{dilation} g{count} at {length}",
        lambda: CONVOLUTIONS[rank](
            channels, outputs, kernel, stride, dilation * (kernel // 2), dilation, count
        ),
        (shape,),
        channels,
        positions * outputs * channels // count * kernel**rank,
        outputs * max(positions, channels // count * kernel**rank),
    )


def transposed(draw: Draw) -> Layer:
    channels, outputs = draw.size(1, 1024), draw.size(1, 1024)
    kernel, stride = draw.choice(((2, 2), (4, 2), (3, 1), (3, 2), (8, 4)))
    length = draw.size(4, 128)
    return Layer(
        f"{channels}>{outputs} k{kernel} s{stride} at {length}",
        lambda: nn.ConvTranspose2d(channels, outputs, kernel, stride, (kernel - stride) // 2),
        ((1, channels, length, length),),
        channels,
        length**2 * channels * outputs * kernel**2,
        outputs * max((length * stride) ** 2, channels * kernel**2),
    )


def linear(draw: Draw) -> Layer:
    rows, inputs, outputs = (draw.size(1, 4096) for _ in range(3))
    return Layer(
        f"{rows}x{inputs} by {outputs}",
        lambda: nn.Linear(inputs, outputs, bias=True),
        ((rows, inputs),),
        rows,
        rows * inputs * outputs,
        outputs * max(rows, inputs),
    )


def matmul(draw: Draw) -> Layer:
    batch, rows, inner, columns = draw.size(1, 32), *(draw.size(1, 2048) for _ in range(3))
    is_transposed = draw.random() < 0.5
    other = (batch, columns, inner) if is_transposed else (batch, inner, columns)
    return Layer(
        f"{batch} of {rows}x{inner} by {columns}{' transposed' if is_transposed else ''}",
        lambda: Apply((lambda a, b: a @ b.transpose(1, 2)) if is_transposed else torch.bmm),
        ((batch, rows, inner), other),
        rows,
        batch * rows * inner * columns,
        batch * rows * columns,
    )


def attention(draw: Draw) -> Layer:
    heads, rows, width = draw.size(1, 16), draw.size(1, 1024), draw.choice((16, 32, 64, 80, 128))
    keys = rows if draw.random() < 0.7 else draw.size(1, 1024)
    bias = draw.choice((False, True))
    shapes = ((1, heads, rows, width), *[(1, heads, keys, width)] * 2)
    return Layer(
        f"{heads} heads {rows} to {keys} of {width}{' bias' if bias else ''}",
        lambda: Apply(F.scaled_dot_product_attention),
        (*shapes, (1, heads, rows, keys)) if bias else shapes,
        rows,
        2 * heads * rows * keys * width,
        heads * rows * keys,
    )


def rows_of(make: Callable[[int], nn.Module]) -> Callable[[Draw], Layer]:
    """A layer over the last of two dimensions."""

    def draw_rows(draw: Draw) -> Layer:
        rows, width = draw.size(1, 8192), draw.size(2, 8192)
        shape = (1, rows, width)
        return Layer(f"{rows}x{width}", lambda: make(width), (shape,), width, 4 * rows * width)

    return draw_rows


def group_norm(draw: Draw) -> Layer:
    groups, each, length = draw.choice((1, 4, 8, 32)), draw.size(1, 32), draw.size(2, 128)
    channels = groups * each
    return Layer(
        f"{groups} groups of {each} at {length}",
        lambda: nn.GroupNorm(groups, channels),
        ((1, channels, length, length),),
        channels,
        4 * channels * length**2,
    )


def reduction(draw: Draw) -> Layer:
    shape = (draw.size(1, 64), draw.size(1, 1024), draw.size(1, 1024))
    dims = draw.choice(((0,), (1,), (2,), (-1,), (1, 2), (0, 1)))
    name = draw.choice(("mean", "sum", "amax", "var"))
    return Layer(
        f"{name} over {dims} of {shape}",
        lambda: Apply(lambda x: getattr(torch, name)(x, dims)),
        (shape,),
        shape[-1],
        2 * math.prod(shape),
    )


def binary(draw: Draw) -> Layer:
    shape = tuple(draw.size(1, most) for most in (16, 256, 256, 256))
    other = tuple(size if draw.random() < 0.7 else 1 for size in shape)
    name = draw.choice(("add", "mul", "sub", "div", "maximum"))
    return Layer(
        f"{name} {shape} and {other}",
        lambda: Apply(getattr(torch, name)),
        (shape, other),
        shape[-1],
        math.prod(shape),
    )


UNARY = ("relu", "gelu", "silu", "sigmoid", "tanh", "exp", "hardswish", "elu", "softplus")


def unary(draw: Draw) -> Layer:
    count, name = draw.size(1 << 10, 1 << 22), draw.choice(UNARY)
    function = getattr(torch, name, None) or getattr(F, name)
    return Layer(f"{name} {count}", lambda: Apply(function), ((1, count),), count, 4 * count)


def pool(draw: Draw) -> Layer:
    channels, length = draw.size(1, 1024), draw.size(8, 256)
    kernel, stride = draw.choice(((2, 2), (3, 2), (3, 1), (5, 1), (7, 7)))
    kind = draw.choice((nn.MaxPool2d, nn.AvgPool2d))
    return Layer(
        f"{kind.__name__} {channels} k{kernel} s{stride} at {length}",
        lambda: kind(kernel, stride, kernel // 2),
        ((1, channels, length, length),),
        channels,
        channels * length**2,
    )


def resize(draw: Draw) -> Layer:
    channels, length = draw.size(1, 512), draw.size(4, 128)
    new = draw.choice((length * 2, length * 4, max(1, length // 2), draw.size(4, 256)))
    mode = draw.choice(("nearest", "bilinear"))
    return Layer(
        f"{mode} {channels} at {length} to {new}",
        lambda: Apply(lambda x: F.interpolate(x, (new, new), mode=mode)),
        ((1, channels, length, length),),
        channels,
        channels * max(new, length) ** 2,
        channels * new**2,
    )


class Gather(nn.Module):
    def __init__(self, rows: int, width: int, count: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(rows, width))
        self.register_buffer("rows", torch.randint(rows, (count,)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.table[self.rows] + x


def gather(draw: Draw) -> Layer:
    rows, width, count = draw.size(2, 32768), draw.size(1, 2048), draw.size(1, 4096)
    return Layer(
        f"{count} of {rows} rows of {width}",
        lambda: Gather(rows, width, count),
        ((width,),),
        width,
        count * width,
        width * max(rows, count),
    )


class RmsNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


def permute(draw: Draw) -> Layer:
    shape = tuple(draw.size(1, most) for most in (16, 64, 256, 256))
    order = draw.sample(range(4), 4)
    return Layer(
        f"{shape} to {tuple(order)}",
        lambda: Apply(lambda x: x.permute(*order).contiguous()),
        (shape,),
        shape[-1],
        math.prod(shape),
    )


def _divisor(draw: Draw, channels: int) -> int:
    return draw.choice([n for n in range(2, channels + 1) if channels % n == 0] or [1])


FAMILIES: dict[str, Callable[[Draw], Layer]] = {
    "conv1d": lambda draw: convolution(draw, 1),
    "conv2d": lambda draw: convolution(draw, 2),
    "conv3d": lambda draw: convolution(draw, 3),
    "grouped": lambda draw: convolution(draw, 2, _divisor),
    "depthwise": lambda draw: convolution(draw, 2, lambda _, channels: channels),
    "depthwise1d": lambda draw: convolution(draw, 1, lambda _, channels: channels),
    "transposed": transposed,
    "linear": linear,
    "matmul": matmul,
    "attention": attention,
    "layer_norm": rows_of(nn.LayerNorm),
    "rms_norm": rows_of(RmsNorm),
    "group_norm": group_norm,
    "softmax": rows_of(lambda width: nn.Softmax(-1)),
    "reduction": reduction,
    "binary": binary,
    "unary": unary,
    "pool": pool,
    "resize": resize,
    "gather": gather,
    "permute": permute,
}


def _layers(family: str, seed: int) -> Iterator[Layer]:
    draw = Draw(f"{family} {seed}")
    while True:
        layer = FAMILIES[family](draw)
        if layer.fits():
            yield layer


def drawn(families: list[str], count: int, seed: int = 0) -> list[Network]:
    """`count` layers of each family; the first ones of a larger count are the same."""
    if unknown := [name for name in families if name not in FAMILIES]:
        raise SystemExit(
            f"no family of shapes is called {unknown[0]!r}; there are {', '.join(FAMILIES)}"
        )
    return [
        _network(family, layer)
        for family in families or FAMILIES
        for layer, _ in zip(_layers(family, seed), range(count))
    ]


def _network(family: str, layer: Layer) -> Network:
    def make() -> tuple[nn.Module, tuple[Any, ...]]:
        return layer.module(), tuple(torch.randn(shape) for shape in layer.inputs)

    return Network(f"{family} {layer.label}", family, make, (layer.width, layer.work))
