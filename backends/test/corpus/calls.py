# SPDX-License-Identifier: BSD-3-Clause
"""Rows: calls as networks make them, in forms that accelerators take: norms, pooling, functions, data movement."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from executorch.backends.test.corpus.convolutions import NCDHW, X, channel_prelu, normalized
from executorch.backends.test.corpus.row import Function, Row, shaped


class LstmStep(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(6, 5)

    def forward(self, x: torch.Tensor, hidden: torch.Tensor, cell: torch.Tensor) -> torch.Tensor:
        return torch.cat(self.cell(x, (hidden, cell)), 1)


def gated(a: torch.Tensor) -> torch.Tensor:
    """Parts of unequal sizes, of which one is read twice and one by nobody."""
    size = a.shape[1]
    one, two, _ = a.split([1, size - 2, 1], 1)
    return two.sigmoid() * two + one


def conv_relu_bn(*arguments: int) -> nn.Module:
    conv = nn.Conv2d(*arguments)
    return nn.Sequential(conv, nn.ReLU(), normalized(nn.BatchNorm2d(conv.out_channels)))


class ByPosition(nn.Module):
    """A layer norm of the channels of each position."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = normalized(nn.LayerNorm(channels))

    def forward(self, a: torch.Tensor) -> torch.Tensor:
        return self.norm(a.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


SCALE = torch.linspace(0.5, 2, 4).reshape(4, 1, 1)
CALLS: list[Row] = [
    shaped("batch_norm_relu", nn.Sequential(normalized(nn.BatchNorm2d(8)), nn.ReLU()), [X]),
    shaped("conv_relu_batch_norm", conv_relu_bn(8, 6, 3), [X]),
    shaped("batch_norm_of_rows", normalized(nn.BatchNorm1d(12)), [(3, 12)]),
    shaped("relu_group_norm", nn.Sequential(nn.ReLU(), normalized(nn.GroupNorm(1, 8))), [X]),
    shaped(
        "group_norm_of_positions",
        nn.Sequential(nn.Conv1d(8, 6, 3), normalized(nn.GroupNorm(1, 6)), nn.Conv1d(6, 4, 1)),
        [(2, 8, 20)],
    ),
    shaped(
        "group_norm_between_convs",
        nn.Sequential(nn.Conv2d(8, 6, 3), normalized(nn.GroupNorm(1, 6)), nn.Conv2d(6, 4, 1)),
        [X],
    ),
    shaped("layer_norm", normalized(nn.LayerNorm(12)), [(2, 3, 12)]),
    shaped(
        "layer_norm_two_dims_plain", nn.LayerNorm((3, 12), elementwise_affine=False), [(2, 3, 12)]
    ),
    shaped("conv_norm_by_position", nn.Sequential(nn.Conv2d(8, 6, 1), ByPosition(6)), [X]),
    shaped("mm_of_values", lambda a, b: torch.tanh(a) @ b, [(3, 12), (12, 5)]),
    shaped("sum_of_rows", lambda a: a.sum(-1, keepdim=True) * a, [(2, 3, 12)]),
    shaped("sum_of_ncdhw", lambda a: a.sum((2, 3, 4), keepdim=True).neg(), [NCDHW]),
    shaped("mean_of_ncdhw", lambda a: a.mean((2, 3, 4)).neg(), [NCDHW]),
    shaped("power_half", lambda a: a.abs() ** 0.5 + (a.abs() + 1) ** -0.5, [X]),
    shaped("avg_pool_of_all", nn.AvgPool2d(20, 20, ceil_mode=True), [X]),
    shaped("mean_of_rows", lambda a: a.mean(-1, keepdim=True) * a, [(2, 3, 12)]),
    shaped("mean_of_two_dims", lambda a: a.mean((1, 2)).neg(), [(2, 3, 12)]),
    shaped("bmm", torch.bmm, [(3, 4, 5), (3, 5, 6)]),
    shaped("add_relu", lambda a, b: F.relu(a + b), [X, X]),
    shaped("add_broadcast", torch.add, [X, (8, 1, 1)]),
    shaped("sub", torch.sub, [X, X]),
    shaped("mul_number", lambda a: a * 0.125, [X]),
    shaped("div", lambda a, b: a / (b.abs() + 1), [X, X]),
    shaped("maximum", torch.maximum, [X, X]),
    shaped("minimum", torch.minimum, [X, X]),
    shaped("scalar_add", lambda a, b: a + b, [(), ()]),
    shaped("ceil", torch.ceil, [X]),
    shaped("cos", torch.cos, [X]),
    shaped("sin", torch.sin, [X]),
    shaped("square", lambda a: a**2, [X]),
    shaped("exp", torch.exp, [X]),
    shaped("prelu", nn.PReLU(8, 0.1), [X]),
    shaped("prelu_one", nn.PReLU(), [(3, 12)]),
    shaped("conv_prelu", nn.Sequential(nn.Conv2d(8, 4, 1), channel_prelu(4)), [X]),
    shaped("resize", lambda a: F.interpolate(a, scale_factor=2.0, mode="bilinear"), [X]),
    shaped(
        "resize_corners",
        lambda a: F.interpolate(a, (7, 9), mode="bilinear", align_corners=True),
        [X],
    ),
    shaped("nearest", lambda a: F.interpolate(a.neg(), scale_factor=2.0), [X]),
    shaped("nearest_rows", lambda a: F.interpolate(a.neg(), (30, 12)), [X]),
    shaped("nearest_often", lambda a: F.interpolate(a.neg(), (20, 72)), [X]),
    shaped("select", lambda a: a[:, 0].neg(), [X]),
    shaped("select_last", lambda a: a[..., -1] * 2, [X[1:]]),
    shaped("repeat", lambda a: a.unsqueeze(2).expand(1, 8, 7, 10, 12).neg(), [X]),
    shaped("clone", lambda a: (a + 1).clone().neg(), [X]),
    shaped("floor", torch.floor, [X]),
    shaped("gelu", F.gelu, [X]),
    shaped("log", lambda a: torch.log(a.abs() + 1), [X]),
    shaped("neg", torch.neg, [X]),
    shaped("rsqrt", lambda a: torch.rsqrt(a.abs() + 1), [X]),
    shaped("sigmoid", torch.sigmoid, [X]),
    shaped("sqrt", lambda a: torch.sqrt(a.abs()), [X]),
    shaped("tanh", torch.tanh, [X]),
    shaped("leaky_relu", lambda a: F.leaky_relu(a, 0.2), [X]),
    shaped("leaky_relu_default", F.leaky_relu, [X]),
    shaped("elu", lambda a: F.elu(a, 0.5), [X]),
    shaped("elu_default", F.elu, [X]),
    shaped("cat_first", lambda a, b: torch.cat([a, b]).neg(), [X, X]),
    shaped("relu", F.relu, [X]),
    shaped("hardsigmoid", F.hardsigmoid, [X]),
    shaped("hardswish", F.hardswish, [X]),
    shaped("silu", F.silu, [X]),
    shaped("hardtanh", F.hardtanh, [X]),
    shaped("clamp", lambda a: torch.clamp(a, -0.5, 0.25), [X]),
    shaped("softmax", lambda a: F.softmax(a, -1), [X]),
    shaped("softmax_channels", lambda a: F.softmax(a.abs(), 1), [(2, 9, 5, 7)]),
    shaped("softmax_positions", lambda a: F.softmax(a.abs(), 1), [(2, 9, 5)]),
    shaped("softmax_first", lambda a: F.softmax(a.abs(), 0), [(9, 5, 3, 4)]),
    shaped("softmax_branches", lambda a: F.softmax(a.abs(), 1), [(1, 2, 64, 1, 1)]),
    shaped("global_average", lambda a: a.mean((2, 3)), [X]),
    shaped("global_average_keepdim", nn.AdaptiveAvgPool2d(1), [X]),
    shaped("max_pool", nn.MaxPool2d(3, 2, 1), [X]),
    shaped("max_pool_ceil", nn.MaxPool2d(3, 2, ceil_mode=True), [(1, 3, 8, 11)]),
    shaped("max_pool_ceil_dilated", nn.MaxPool2d(3, 3, 1, 2, ceil_mode=True), [(2, 3, 12, 9)]),
    shaped("avg_pool_ceil", nn.AvgPool2d(3, 2, ceil_mode=True), [(1, 3, 8, 11)]),
    shaped("avg_pool_padded", nn.AvgPool2d(3, 1, 1), [(2, 3, 8, 11)]),
    shaped("avg_pool_ceil_counted", nn.AvgPool2d(3, 2, 1, ceil_mode=True), [(1, 3, 9, 12)]),
    shaped(
        "avg_pool_ceil_padded",
        nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False),
        [(1, 3, 8, 11)],
    ),
    shaped("avg_pool", nn.AvgPool2d(2), [X]),
    shaped("cat", lambda a, b: torch.cat([a, b, a], 1).neg(), [X, X]),
    shaped("cat_seven", lambda a: torch.cat([a] * 7, -1).neg(), [X]),
    shaped(
        "conv_cat", nn.Sequential(nn.Conv2d(8, 4, 1), Function(lambda a: torch.cat([a, a], 1))), [X]
    ),
    shaped("permute", lambda a: a.permute(0, 3, 1, 2).neg(), [X]),
    shaped("view", lambda a: a.view(8, -1).neg(), [X]),
    shaped("unsqueeze_squeeze", lambda a: a.unsqueeze(1).neg().squeeze(1), [X[1:]]),
    shaped("slice", lambda a: a[:, 2:-1].neg(), [X]),
    shaped("slice_from_before_the_first", lambda a: a[:, -99:-1].neg(), [X]),
    shaped("conv_slice", nn.Sequential(nn.Conv2d(8, 4, 1), Function(lambda a: a[:, 1:3])), [X]),
    shaped("split", gated, [X]),
    shaped("conv_split", nn.Sequential(nn.Conv2d(8, 4, 1), Function(gated)), [X]),
    shaped("lstm_step", LstmStep(), [(2, 6), (2, 5), (2, 5)]),
    shaped("pad", lambda a: F.pad(a, (1, 2, 3, 0), value=0.5).neg(), [X]),
    shaped("conv_pad", nn.Sequential(nn.Conv2d(8, 4, 1), nn.ZeroPad2d((1, 0, 2, 3))), [X]),
    shaped(
        "pad_conv", nn.Sequential(nn.ZeroPad2d((2, 2, 1, 1)), nn.Conv2d(8, 4, 3, padding=1)), [X]
    ),
    shaped("pad_conv1d", nn.Sequential(nn.ConstantPad1d(2, 0.0), nn.Conv1d(8, 4, 3)), [(2, 8, 11)]),
    shaped(
        "pad_one_side_conv", nn.Sequential(nn.ZeroPad2d((0, 1, 0, 1)), nn.Conv2d(8, 4, 3, 2)), [X]
    ),
    shaped("pad_ones_conv", nn.Sequential(nn.ConstantPad2d(1, 1.0), nn.Conv2d(8, 4, 3)), [X]),
    shaped("conv_scale", nn.Sequential(nn.Conv2d(8, 4, 1), Function(lambda a: a * SCALE)), [X]),
]
FAMILIES = {"calls": CALLS}
