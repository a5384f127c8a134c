# SPDX-License-Identifier: BSD-3-Clause
"""Cases for each row of the table of ops: small models and their inputs, by family. It imports PyTorch alone, so that
the released package can be run on the same models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Function(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(*inputs)


@dataclass(frozen=True)
class Case:
    name: str
    model: Callable[[], nn.Module]
    inputs: Callable[[], tuple[Tensor, ...]]


def of(name: str, model: Any, *shapes: tuple[int, ...] | Callable[[], Tensor]) -> Case:
    """Of a function or a module's maker; inputs of shapes are above 0."""

    def make() -> nn.Module:
        torch.manual_seed(0)
        made = model()
        if not isinstance(made, nn.Module):
            return Function(made).eval()
        for each in made.modules():
            if isinstance(each, nn.BatchNorm2d | nn.BatchNorm1d):
                for values in (each.weight, each.bias, each.running_mean, each.running_var):
                    values.data = torch.rand_like(values) + 0.5
        return made.eval()

    def inputs() -> tuple[Tensor, ...]:
        torch.manual_seed(1)
        return tuple(s() if callable(s) else torch.rand(s) * 0.8 + 0.1 for s in shapes)

    return Case(name, make, inputs)


def fn(name: str, function: Callable[..., Any], *shapes: Any) -> Case:
    return of(name, lambda: function, *shapes)


def signed(*shape: int) -> Callable[[], Tensor]:
    return lambda: torch.randn(shape)


def integers(most: int, *shape: int) -> Callable[[], Tensor]:
    return lambda: torch.randint(0, most, shape)


def layers(*modules: Callable[[], nn.Module]) -> Callable[[], nn.Module]:
    return lambda: nn.Sequential(*(each() for each in modules))


def conv(*args: Any, **kwargs: Any) -> Callable[[], nn.Module]:
    return lambda: nn.Conv2d(*args, **kwargs)


class Products(nn.Module):
    """A convolution and a linear layer, between which the order of memory does not change."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 3), nn.Linear(144, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.second(F.relu(self.first(x)).flatten(1))


R, S, IMAGE = (2, 3), (2, 3, 4), (1, 3, 8, 8)
SIGNED = signed(*IMAGE)

ELEMENTWISE = [
    fn("add", lambda x, y: x + y, IMAGE, IMAGE),
    fn("add_broadcast", lambda x, y: x + y, IMAGE, (3, 1, 1)),
    fn("add_number", lambda x: x + 2.5, IMAGE),
    fn("sub", lambda x, y: x - y, S, S),
    fn("sub_number", lambda x: x - 0.5, S),
    fn("rsub", lambda x: 1 - x, S),
    fn("mul", lambda x, y: x * y, IMAGE, IMAGE),
    fn("mul_number", lambda x: x * 3, S),
    fn("div", lambda x, y: x / y, S, S),
    fn("div_number", lambda x: x / 4, S),
    of("add_constant", lambda: Added(), S),
    fn("maximum", torch.maximum, S, S),
    fn("minimum", torch.minimum, S, S),
    fn("relu", F.relu, SIGNED),
    fn("relu6", F.relu6, SIGNED),
    fn("clamp", lambda x: torch.clamp(x, -0.5, 0.7), SIGNED),
    fn("clamp_least", lambda x: torch.clamp(x, min=-0.5), SIGNED),
    fn("hardtanh", F.hardtanh, SIGNED),
    fn("gelu", F.gelu, SIGNED),
    fn("hardswish", F.hardswish, SIGNED),
    fn("hardsigmoid", F.hardsigmoid, SIGNED),
    fn("leaky_relu", lambda x: F.leaky_relu(x, 0.2), SIGNED),
    of("prelu", lambda: nn.PReLU(3), SIGNED),
    of("prelu_one", lambda: nn.PReLU(), SIGNED),
    fn("sqrt", torch.sqrt, S),
    fn("rsqrt", torch.rsqrt, S),
    fn("to_int", lambda x: x.to(torch.int32), S),
    fn("to_half", lambda x: x.to(torch.float16), S),
]  # fmt: skip


class Added(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 4))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.weight


GEMM = [
    of("conv", conv(3, 4, 3, padding=1), IMAGE),
    of("conv_stride", conv(3, 4, (3, 2), stride=(2, 1), padding=(1, 0), bias=False), IMAGE),
    of("conv_dilation", conv(3, 4, 3, dilation=2), IMAGE),
    of("conv_groups", conv(4, 6, 3, groups=2), (1, 4, 8, 8)),
    of("conv_depthwise", conv(4, 4, 3, groups=4), (1, 4, 8, 8)),
    of("conv_depthwise_two", conv(4, 8, 3, groups=4), (1, 4, 8, 8)),
    of("conv_relu", layers(conv(3, 4, 3), nn.ReLU), IMAGE),
    of("conv_relu6", layers(conv(3, 4, 3), nn.ReLU6), IMAGE),
    of("conv_hardtanh", layers(conv(3, 4, 3), lambda: nn.Hardtanh(0.0, 6.0)), IMAGE),
    of("conv_clamp", layers(conv(3, 4, 3), lambda: nn.Hardtanh(0.0, 2.0)), IMAGE),
    of("conv_norm", layers(conv(3, 4, 3), lambda: nn.BatchNorm2d(4)), IMAGE),
    of("conv_norm_relu", layers(conv(3, 4, 3), lambda: nn.BatchNorm2d(4), nn.ReLU), IMAGE),
    of("conv_transposed", lambda: nn.ConvTranspose2d(3, 4, 3), IMAGE),
    of("conv_transposed_stride", lambda: nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1), IMAGE),
    of("conv_transposed_depthwise", lambda: nn.ConvTranspose2d(4, 4, 3, groups=4), (1, 4, 8, 8)),
    of("conv1d", lambda: nn.Conv1d(3, 4, 3, padding=1), (1, 3, 8)),
    of("conv1d_relu", layers(lambda: nn.Conv1d(3, 4, 3, stride=2), nn.ReLU), (1, 3, 8)),
    of("linear", lambda: nn.Linear(3, 5), R),
    of("linear_no_bias", lambda: nn.Linear(4, 5, bias=False), S),
    of("linear_relu", layers(lambda: nn.Linear(3, 5), nn.ReLU), R),
    of("linear_relu6", layers(lambda: nn.Linear(4, 5), nn.ReLU6), S),
    fn("bmm", torch.bmm, S, (2, 4, 5)),
    of("embedding", lambda: nn.Embedding(9, 4), integers(9, 2, 3)),
    of("products", Products, IMAGE),
]

POOLING = [
    fn("avg_pool", lambda x: F.avg_pool2d(x, 2), IMAGE),
    fn("avg_pool_pad", lambda x: F.avg_pool2d(x, 3, 2, 1), IMAGE),
    fn("avg_pool_no_pad", lambda x: F.avg_pool2d(x, (3, 2), (1, 2), (1, 0), count_include_pad=False), IMAGE),
    fn("max_pool", lambda x: F.max_pool2d(x, 2), IMAGE),
    fn("max_pool_pad", lambda x: F.max_pool2d(x, (3, 2), (2, 1), (1, 0)), IMAGE),
    fn("max_pool_dilation", lambda x: F.max_pool2d(x, 2, 1, 0, 2), IMAGE),
    fn("adaptive_avg_pool", lambda x: F.adaptive_avg_pool2d(x, 1), IMAGE),
    fn("adaptive_avg_pool_2", lambda x: F.adaptive_avg_pool2d(x, 2), IMAGE),
    fn("mean", lambda x: x.mean((2, 3)), IMAGE),
    fn("mean_keep", lambda x: x.mean((-1, 1), keepdim=True), S),
    fn("bilinear", lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), IMAGE),
    fn("bilinear_corners", lambda x: F.interpolate(x, (15, 12), mode="bilinear", align_corners=True), IMAGE),
    fn("nearest", lambda x: F.interpolate(x, scale_factor=2), IMAGE),
]  # fmt: skip

NORMS = [
    of("batch_norm", lambda: nn.BatchNorm2d(3), IMAGE),
    of("layer_norm", lambda: nn.LayerNorm(4), S),
    fn("layer_norm_plain", lambda x: F.layer_norm(x, [4]), S),
    fn("softmax", lambda x: F.softmax(x, -1), S),
    fn("softmax_first", lambda x: F.softmax(x, 1), IMAGE),
    fn("log_softmax", lambda x: F.log_softmax(x, -1), S),
]

MOVEMENT = [
    fn("cat", lambda x, y: torch.cat([x, y], 1), IMAGE, (1, 2, 8, 8)),
    fn("cat_last", lambda x, y: torch.cat([x, y], -1), S, S),
    of("cat_constant", lambda: Joined(), S),
    fn("pad", lambda x: F.pad(x, (1, 2, 0, 3)), IMAGE),
    fn("permute", lambda x: x.permute(0, 2, 3, 1), IMAGE),
    fn("transpose", lambda x: x.transpose(-1, 1), S),
    fn("view", lambda x: x.reshape(6, 4), S),
    fn("flatten", lambda x: x.flatten(1), IMAGE),
    fn("squeeze", lambda x: x.squeeze(1), (2, 1, 4)),
    fn("unsqueeze", lambda x: x.unsqueeze(-1), S),
    fn("expand", lambda x: x.expand(2, 5, 4), (2, 1, 4)),
    fn("expand_nothing", lambda x: x.expand(1, 2, 4), (2, 4)),
    fn("select", lambda x: x[:, 1], IMAGE),
    fn("select_last", lambda x: x.select(-1, -2), S),
    fn("slice", lambda x: x[:, 1:3, ::2], IMAGE),
    fn("slice_end", lambda x: x[..., -3:-1], S),
    fn("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), (1, 8, 3, 4)),
]


class Joined(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(2, 1, 4))

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.weight], 1)


CHAINS = [
    of("chain", layers(conv(3, 4, 3, padding=1), lambda: nn.BatchNorm2d(4), nn.ReLU, lambda: nn.MaxPool2d(2),
                       nn.Flatten, lambda: nn.Linear(64, 5)), IMAGE),
    of("residual", lambda: Residual(), IMAGE),
    of("attention", lambda: Attention(), S),
    fn("concat_of_two", lambda x, y: torch.cat([F.relu(x), y * 2], 1) + 1, IMAGE, IMAGE),
    of("two_readers", lambda: TwoReaders(), IMAGE),
]  # fmt: skip


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 3, 3, padding=1), nn.Conv2d(3, 3, 1)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x + self.second(F.relu(self.first(x))))


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.third = (nn.Linear(4, 4) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        scores = torch.bmm(self.first(x), self.second(x).transpose(1, 2)) * 0.5
        return torch.bmm(F.softmax(scores, -1), self.third(x))


class TwoReaders(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 3), nn.Conv2d(3, 4, 3)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = x * 2
        return F.hardswish(self.first(y)), self.second(y).mean((2, 3))


FAMILIES = {
    "elementwise": ELEMENTWISE,
    "gemm": GEMM,
    "pooling": POOLING,
    "norms": NORMS,
    "movement": MOVEMENT,
    "chains": CHAINS,
}
