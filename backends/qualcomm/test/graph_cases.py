# SPDX-License-Identifier: BSD-3-Clause
"""A case for each row of the table of ops: a small model and its inputs, by family. It imports PyTorch alone, so that
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
    """Of a function or a module's maker; inputs of shapes are above 0, so that logarithms are numbers."""

    def make() -> nn.Module:
        torch.manual_seed(0)
        made = model()
        return made.eval() if isinstance(made, nn.Module) else Function(made).eval()

    def inputs() -> tuple[Tensor, ...]:
        torch.manual_seed(1)
        return tuple(s() if callable(s) else torch.rand(s) * 0.8 + 0.1 for s in shapes)

    return Case(name, make, inputs)


def fn(name: str, function: Callable[..., Any], *shapes: Any) -> Case:
    return of(name, lambda: function, *shapes)


def integers(most: int, *shape: int) -> Callable[[], Tensor]:
    return lambda: torch.randint(0, most, shape, dtype=torch.int32)


def booleans(*shape: int) -> Callable[[], Tensor]:
    return lambda: torch.rand(shape) > 0.5


S, IMAGE = (2, 3, 4), (1, 3, 8, 8)
UNARY = [
    fn(name, getattr(torch, name), S)
    for name in "abs asin atan ceil cos exp floor log neg rsqrt sign sin round sqrt sigmoid tanh".split()
]
ACTIVATIONS = [
    fn("relu", F.relu, S),
    fn("gelu", F.gelu, S),
    fn("hardswish", F.hardswish, S),
    fn("hardsigmoid", F.hardsigmoid, S),
    fn("elu", lambda x: F.elu(x, 0.5), S),
    of("prelu", lambda: nn.PReLU(3), IMAGE),
    fn("leaky_relu", lambda x: F.leaky_relu(x, 0.2), S),
    fn("clamp", lambda x: torch.clamp(x, 0.2, 0.7), S),
    fn("clamp_max", lambda x: torch.clamp(x, max=0.7), S),
    fn("hardtanh", lambda x: F.hardtanh(x, -0.5, 0.5), S),
    fn("reciprocal", torch.reciprocal, S),
    fn("silu", F.silu, S),
    fn("isnan", torch.isnan, S),
    fn("isinf", torch.isinf, S),
]
BINARY = [
    fn(name, getattr(torch, name), S, S)
    for name in "add sub mul div maximum minimum eq ne gt ge lt le pow".split()
] + [
    fn("add_number", lambda x: x + 2.0, S),
    fn("mul_broadcast", lambda x, y: x * y, IMAGE, (8,)),
    fn("rsub", lambda x: 1.0 - x, S),
    fn("pow_2", lambda x: x**2, S),
    fn("floor_divide", torch.floor_divide, S, S),
    fn("logical_and", torch.logical_and, booleans(*S), booleans(*S)),
    fn("bitwise_or", torch.bitwise_or, booleans(*S), booleans(*S)),
    fn("bitwise_xor", torch.bitwise_xor, booleans(*S), booleans(*S)),
    fn("logical_not", torch.logical_not, booleans(*S)),
    fn("where", torch.where, booleans(*S), S, S),
]
GEMM = [
    of("linear", lambda: nn.Linear(4, 5), (2, 4)),
    of("linear_rank3", lambda: nn.Linear(4, 5, bias=False), S),
    fn("matmul", torch.matmul, (2, 3, 4), (2, 4, 5)),
    fn("mm", torch.mm, (3, 4), (4, 5)),
    of("conv2d", lambda: nn.Conv2d(3, 4, 3, 2, 1), IMAGE),
    of("conv2d_groups", lambda: nn.Conv2d(4, 6, 3, groups=2), (1, 4, 8, 8)),
    of("conv2d_depthwise", lambda: nn.Conv2d(3, 3, 3, groups=3, dilation=2), IMAGE),
    of("conv2d_valid", lambda: nn.Conv2d(3, 4, (3, 1), bias=False), IMAGE),
    of("conv1d", lambda: nn.Conv1d(3, 4, 3, padding=1), (1, 3, 8)),
    of("conv3d", lambda: nn.Conv3d(2, 3, 2, padding=1), (1, 2, 4, 5, 6)),
    of("conv_transpose2d", lambda: nn.ConvTranspose2d(3, 4, 3, 2, 1, output_padding=1), IMAGE),
    of("conv_transpose3d", lambda: nn.ConvTranspose3d(2, 3, 2, 2), (1, 2, 3, 4, 4)),
]
POOLS = [
    fn("avg_pool2d", lambda x: F.avg_pool2d(x, 2), IMAGE),
    fn("avg_pool2d_padded", lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), IMAGE),
    fn("avg_pool3d", lambda x: F.avg_pool3d(x, 2, 2), (1, 2, 4, 4, 4)),
    fn("adaptive_avg_pool2d", lambda x: F.adaptive_avg_pool2d(x, 2), IMAGE),
    fn("max_pool2d", lambda x: F.max_pool2d(x, 2, 2), IMAGE),
    fn("max_pool2d_padded", lambda x: F.max_pool2d(x, 3, 2, 1), IMAGE),
    fn("adaptive_max_pool2d", lambda x: F.adaptive_max_pool2d(x, 2), IMAGE),
]
NORMS = [
    of("batch_norm", lambda: _trained(nn.BatchNorm2d(3)), IMAGE),
    of("layer_norm", lambda: nn.LayerNorm(4), S),
    of("layer_norm_plain", lambda: nn.LayerNorm((3, 4), elementwise_affine=False), S),
    of("rms_norm", lambda: nn.RMSNorm(4, eps=1e-5), S),
    of("group_norm", lambda: nn.GroupNorm(2, 4), (1, 4, 8, 8)),
    of("instance_norm", lambda: nn.InstanceNorm2d(3, affine=True), IMAGE),
    fn("softmax", lambda x: F.softmax(x, -1), S),
    fn("log_softmax", lambda x: F.log_softmax(x, -1), S),
]
REDUCTIONS = [
    fn("amax", lambda x: torch.amax(x, 1), S),
    fn("amin", lambda x: torch.amin(x, (1, 2), keepdim=True), S),
    fn("mean", lambda x: x.mean((2, 3), keepdim=True), IMAGE),
    fn("mean_last", lambda x: x.mean(-1), S),
    fn("sum", lambda x: x.sum((0, 2)), S),
    fn("argmax", lambda x: torch.argmax(x, 1), S),
    fn("argmin", lambda x: torch.argmin(x, -1, keepdim=True), S),
    fn("cumsum", lambda x: torch.cumsum(x, 1), S),
    fn("topk", lambda x: torch.topk(x, 2), S),
]
DATA_MOVEMENT = [
    fn("cat", lambda x, y: torch.cat([x, y], 1), S, S),
    fn("stack", lambda x, y: torch.stack([x, y], 1), S, S),
    fn("unbind", lambda x: torch.unbind(x, 1), S),
    fn("split", lambda x: torch.split(x, [1, 2], 1), S),
    fn("slice", lambda x: x[:, 1:3, ::2], S),
    fn("select", lambda x: x[:, 1], S),
    fn("flip", lambda x: torch.flip(x, [1]), S),
    fn("view", lambda x: x.reshape(6, 4), S),
    fn("unsqueeze", lambda x: x.unsqueeze(1), S),
    fn("squeeze", lambda x: x.squeeze(1), (2, 1, 4)),
    fn("expand", lambda x: x.expand(2, 3, 4), (2, 1, 4)),
    fn("repeat", lambda x: x.repeat(1, 2, 1), S),
    fn("permute", lambda x: x.permute(0, 2, 1), S),
    fn("transpose", lambda x: x.transpose(1, 2), S),
    fn("constant_pad", lambda x: F.pad(x, (1, 2, 0, 1), value=0.5), S),
    fn("reflection_pad2d", lambda x: F.pad(x, (1, 1, 2, 2), mode="reflect"), IMAGE),
    fn("index_select", lambda x, i: torch.index_select(x, 1, i), S, integers(3, 2)),
    fn("gather", lambda x, i: torch.gather(x, 1, i.long()), S, integers(3, 2, 2, 4)),
    of("embedding", lambda: nn.Embedding(10, 4), integers(10, 2, 3)),
    fn("to_int", lambda x: x.to(torch.int32), S),
]
IMAGES = [
    fn("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), (1, 4, 3, 3)),
    fn("pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 2), (1, 1, 4, 4)),
    fn("bilinear", lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), IMAGE),
    fn(
        "bilinear_corners",
        lambda x: F.interpolate(x, size=(5, 7), mode="bilinear", align_corners=True),
        IMAGE,
    ),
    fn("nearest", lambda x: F.interpolate(x, scale_factor=2), IMAGE),
    fn("bicubic", lambda x: F.interpolate(x, scale_factor=2, mode="bicubic"), IMAGE),
    fn("channel_shuffle", lambda x: F.channel_shuffle(x, 2), (1, 4, 3, 3)),
    fn("grid_sample", lambda x, g: F.grid_sample(x, g, align_corners=False), IMAGE, (1, 4, 4, 2)),
]


def _trained(norm: nn.BatchNorm2d) -> nn.BatchNorm2d:
    with torch.no_grad():
        for each in (norm.weight, norm.bias, norm.running_mean, norm.running_var):
            each.copy_(torch.rand(each.shape) + 0.5)
    return norm


class Network(nn.Module):
    """Convolution, norm, activation, pool, linear: what a classifier of images has."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.linear = (
            nn.Conv2d(3, 8, 3, 2, 1),
            nn.BatchNorm2d(8),
            nn.Linear(128, 10),
        )

    def forward(self, x: Tensor) -> Tensor:
        x = F.max_pool2d(F.relu(self.norm(self.conv(x))), 2, 2)
        return self.linear(torch.flatten(x, 1))


NETWORKS = [of("network", Network, (1, 3, 16, 16))]
FAMILIES = {
    "unary": UNARY,
    "activations": ACTIVATIONS,
    "binary": BINARY,
    "gemm": GEMM,
    "pools": POOLS,
    "norms": NORMS,
    "reductions": REDUCTIONS,
    "data movement": DATA_MOVEMENT,
    "images": IMAGES,
    "networks": NETWORKS,
}  # fmt: skip
