# SPDX-License-Identifier: BSD-3-Clause
"""Rows: convolutions of all kinds and matmuls with constant weights, alone and with what networks put behind them."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from executorch.backends.test.corpus.row import Function, Row, shaped


def normalized(norm: nn.Module) -> nn.Module:
    """With numbers that are not those of an untrained one."""
    with torch.no_grad():
        for name, value in [*norm.named_parameters(), *norm.named_buffers()]:
            if value.is_floating_point():
                value.uniform_(0.5, 2) if "var" in name else value.uniform_(-1, 1)
    return norm


def conv_bn(*arguments: int, **options: int) -> nn.Module:
    conv = nn.Conv2d(*arguments, **options)
    return nn.Sequential(conv, normalized(nn.BatchNorm2d(conv.out_channels)), nn.ReLU6())


def conv1d_bn(*arguments: int, **options: int) -> nn.Module:
    conv = nn.Conv1d(*arguments, **options)
    return nn.Sequential(conv, normalized(nn.BatchNorm1d(conv.out_channels)), nn.ReLU6())


def channel_prelu(channels: int) -> nn.Module:
    module = nn.PReLU(channels)
    with torch.no_grad():
        module.weight.uniform_(-1, 1)
    return module


class Sequence(nn.Module):
    """Convolutions over one dimension with all that may stand between: sums with plain and turned values, constants,
    parts joined along channels and positions, padding, norms, and rows of positions."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = (
            nn.Conv1d(8, 6, 3, padding=1),
            nn.Conv1d(6, 6, 3, padding=2, dilation=2),
        )
        self.depthwise, self.up = (
            nn.Conv1d(12, 12, 3, groups=12),
            nn.ConvTranspose1d(12, 8, 4, 2, 1),
        )
        self.norm, self.slopes = normalized(nn.BatchNorm1d(6)), channel_prelu(6)
        self.rows = nn.Linear(8, 5)
        self.offset = nn.Parameter(torch.linspace(-1, 1, 6).reshape(6, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.slopes(self.norm(torch.tanh(self.first(x)))) + self.offset
        y = y + self.second(y) * x[:, 1:7]
        y = torch.cat([y, y.sigmoid()], 1)
        y = F.pad(torch.cat([y[:, :, 1:4], y], 2), (1, 2))
        z = self.up(self.depthwise(y))
        return self.rows(z.permute(0, 2, 1) * 2.0) + z.mT.relu()[:, :, :5]


X = (1, 8, 10, 12)
NCDHW = (2, 16, 5, 6, 7)
MATRIX, BIAS = torch.linspace(-1, 1, 84).reshape(12, 7), torch.linspace(-1, 1, 7)
CONVOLUTIONS: list[Row] = [
    shaped("conv", nn.Conv2d(8, 6, 3, padding=1), [X]),
    shaped("conv_stride_dilation", nn.Conv2d(8, 6, (3, 2), (2, 1), (0, 1), (1, 2)), [X]),
    shaped("conv_grouped", nn.Conv2d(8, 6, 3, groups=2, bias=False), [X]),
    shaped("conv_depthwise", nn.Conv2d(8, 8, 3, padding=1, groups=8), [X]),
    shaped("conv_depthwise_multiplier", nn.Conv2d(8, 16, 3, groups=8), [X]),
    shaped("conv_depthwise_two_taps", nn.Conv2d(8, 8, (1, 2), groups=8), [X]),
    shaped("conv_depthwise_five_taps", nn.Conv2d(8, 8, (5, 1), groups=8), [X]),
    shaped("conv_depthwise_wide", nn.Conv2d(8, 8, 7, padding=3, groups=8), [X]),
    shaped("conv_transposed", nn.ConvTranspose2d(8, 6, 3, 2, 1, output_padding=1), [X]),
    shaped("conv_transposed_grouped", nn.ConvTranspose2d(8, 6, 3, 2, groups=2), [X]),
    shaped("conv_batch_norm_relu6", conv_bn(8, 6, 3, bias=False), [X]),
    shaped("depthwise_batch_norm_relu6", conv_bn(8, 8, 3, groups=8), [X]),
    shaped("conv_to_one_channel", nn.Conv2d(64, 1, 1), [(1, 64, 32, 32)]),
    shaped("conv_of_one_pixel", nn.Conv2d(8, 3, 1), [(1, 8, 1, 1)]),
    shaped("two_convs", nn.Sequential(nn.Conv2d(8, 4, 3), nn.ReLU(), nn.Conv2d(4, 8, 1)), [X]),
    shaped("linear", nn.Linear(12, 7), [(3, 12)]),
    shaped(
        "linear_no_bias_rank3_relu", nn.Sequential(nn.Linear(12, 7, bias=False), nn.ReLU()), [X[1:]]
    ),
    shaped("addmm_relu", lambda a: F.relu(torch.addmm(BIAS, a, MATRIX)), [(3, 12)]),
    shaped("mm", lambda a: a @ MATRIX, [(3, 12)]),
    shaped("conv_transposed_phases", nn.ConvTranspose2d(8, 16, 4, 2, 1), [X]),
    shaped("conv_transposed_phases_whole", nn.ConvTranspose2d(8, 16, 2, 2), [X]),
    shaped("conv_transposed_phases_odd", nn.ConvTranspose2d(8, 16, 3, 2, 1, output_padding=1), [X]),
    shaped("conv_transposed_phases_uneven", nn.ConvTranspose2d(8, 16, (4, 2), (2, 1), (1, 0)), [X]),
    shaped("conv_transposed_phases_wide", nn.ConvTranspose2d(8, 16, 5, (1, 3), 1, bias=False), [X]),
    shaped("conv_transposed_phases_cropped", nn.ConvTranspose2d(8, 16, 2, 2, 1), [X]),
    shaped("conv_transposed_phases_apart", nn.ConvTranspose2d(8, 16, 3, 2, 1, dilation=2), [X]),
    shaped(
        "conv_transposed_phases_norm",
        nn.Sequential(
            nn.ConvTranspose2d(8, 16, 4, 2, 1), normalized(nn.BatchNorm2d(16)), nn.ReLU6()
        ),
        [(2, 8, 5, 7)],
    ),
    shaped("conv3d", nn.Conv3d(16, 16, 3, padding=1), [NCDHW]),
    shaped("conv3d_five_taps", nn.Conv3d(16, 17, 5, padding=2), [NCDHW]),
    shaped(
        "conv3d_uneven",
        nn.Conv3d(16, 17, (2, 3, 4), (3, 1, 2), (1, 2, 0), (1, 2, 1), bias=False),
        [NCDHW],
    ),
    shaped("conv3d_strides", nn.Conv3d(16, 16, 3, 2, 1), [NCDHW]),
    shaped("conv3d_dilated", nn.Conv3d(16, 16, 3, padding=2, dilation=2), [NCDHW]),
    shaped("conv3d_along_depth", nn.Conv3d(16, 16, (3, 1, 1), (2, 1, 1), (1, 0, 0)), [NCDHW]),
    shaped("conv3d_of_slices", nn.Conv3d(16, 16, (1, 3, 3), padding=(0, 1, 1)), [NCDHW]),
    shaped("conv3d_of_some_slices", nn.Conv3d(16, 16, (1, 3, 3), (3, 1, 1)), [NCDHW]),
    shaped(
        "conv3d_taps_of_zeros",
        nn.Conv3d(16, 16, (7, 3, 3), padding=(3, 1, 1)),
        [(2, 16, 1, 4, 4)],
    ),
    shaped("conv3d_in_parts", nn.Conv3d(16, 16, 3, padding=1), [(1, 16, 9, 64, 64)]),
    shaped("conv3d_in_parts_of_rows", nn.Conv3d(16, 16, 3, 2, 1), [(1, 16, 18, 64, 64)]),
    shaped(
        "conv3d_batch_norm_relu6_pool",
        nn.Sequential(
            nn.Conv3d(16, 16, 3),
            normalized(nn.BatchNorm3d(16)),
            nn.ReLU6(),
            nn.MaxPool3d(3, (1, 2, 2), 1),
            nn.Conv3d(16, 4, 1),
        ),
        [NCDHW],
    ),
    shaped(
        "conv3d_mean",
        nn.Sequential(
            nn.Conv3d(16, 16, 3), nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(16, 3)
        ),
        [NCDHW],
    ),
    shaped("conv_transposed3d", nn.ConvTranspose3d(16, 16, 2, 2), [NCDHW]),
    shaped("conv_transposed3d_odd", nn.ConvTranspose3d(16, 16, 3, 2, 1, 1), [NCDHW]),
    shaped(
        "conv_transposed3d_norm",
        nn.Sequential(
            nn.ConvTranspose3d(16, 17, (4, 3, 3), (2, 1, 1), 1),
            normalized(nn.BatchNorm3d(17)),
            nn.ReLU(),
        ),
        [NCDHW],
    ),
    shaped("conv1d_batch_norm_relu6", conv1d_bn(8, 6, 3, stride=2, padding=1), [(2, 8, 11)]),
    shaped("conv1d_between", Sequence(), [(2, 8, 11)]),
    shaped(
        "conv1d_of_turned",
        nn.Sequential(Function(lambda a: a.mT), nn.Conv1d(11, 4, 3)),
        [(2, 8, 11)],
    ),
    shaped("conv1d_depthwise", nn.Conv1d(8, 8, 5, padding=2, groups=8), [(2, 8, 11)]),
    shaped("conv1d_transposed", nn.ConvTranspose1d(8, 6, 3, 2, 1, output_padding=1), [(2, 8, 11)]),
]
FAMILIES = {"convolutions": CONVOLUTIONS}
