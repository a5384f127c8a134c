# SPDX-License-Identifier: BSD-3-Clause
"""Networks on films, scans and pairs of images: convolutions of three dimensions, after their papers."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


def unit(inputs: int, outputs: int, stride: int = 1) -> nn.Sequential:
    """Convolution, batch norm, activation."""
    return nn.Sequential(
        nn.Conv3d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm3d(outputs), nn.ReLU()
    )


class Volume(nn.Sequential):
    """Tran et al., 2018 (R3D): convolutions over time and space."""

    def __init__(self) -> None:
        layers: list[nn.Module] = [nn.Conv3d(3, 32, (3, 7, 7), (1, 2, 2), (1, 3, 3)), nn.ReLU()]
        for inputs, outputs in ((32, 64), (64, 128), (128, 256)):
            layers += [nn.Conv3d(inputs, outputs, 3, 2, 1), nn.BatchNorm3d(outputs), nn.ReLU()]
        super().__init__(*layers, nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(256, 400))


class Expanded(nn.Sequential):
    """Feichtenhofer, 2020 (X3D): depthwise filters over time and space between pointwise ones."""

    def __init__(self) -> None:
        layers: list[nn.Module] = [
            nn.Conv3d(3, 24, (1, 3, 3), (1, 2, 2), (0, 1, 1)),
            nn.Conv3d(24, 24, (5, 1, 1), 1, (2, 0, 0), groups=24),
            nn.BatchNorm3d(24),
            nn.ReLU(),
        ]
        for inputs, inner, outputs in ((24, 54, 24), (24, 108, 48), (48, 216, 96)):
            layers += [nn.Conv3d(inputs, inner, 1, bias=False), nn.BatchNorm3d(inner), nn.ReLU()]
            layers += [
                nn.Conv3d(inner, inner, 3, (1, 2, 2), 1, groups=inner, bias=False),
                nn.BatchNorm3d(inner),
                nn.SiLU(),
                nn.Conv3d(inner, outputs, 1, bias=False),
                nn.BatchNorm3d(outputs),
            ]
        super().__init__(*layers, nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(96, 400))


class Scan(nn.Module):
    """Cicek et al., 2016 (3-D U-Net): two levels, half width."""

    def __init__(self) -> None:
        super().__init__()
        self.high, self.low = self._pair(1, 16, 32), self._pair(32, 32, 64)
        self.up, self.join = nn.ConvTranspose3d(64, 64, 2, 2), self._pair(96, 32, 32)
        self.out = nn.Conv3d(32, 3, 1)

    @staticmethod
    def _pair(inputs: int, inner: int, outputs: int) -> nn.Sequential:
        return nn.Sequential(unit(inputs, inner), unit(inner, outputs))

    def forward(self, x: Tensor) -> Tensor:
        high = self.high(x)
        low = self.low(functional.max_pool3d(high, 2))
        return self.out(self.join(torch.cat([high, self.up(low)], 1)))


class Stereo(nn.Module):
    """Chang and Chen, 2018 (PSMNet), small: features of both images at all disparities, the likeliest one."""

    def __init__(self, disparities: int = 12) -> None:
        super().__init__()
        self.disparities = disparities
        layers: list[nn.Module] = []
        for inputs, stride in ((3, 2), (32, 1), (32, 2), (32, 1)):
            layers += [nn.Conv2d(inputs, 32, 3, stride, 1), nn.ReLU()]
        self.features = nn.Sequential(*layers)
        self.cost, self.down = nn.Sequential(unit(64, 32), unit(32, 32)), unit(32, 64, 2)
        self.up = nn.ConvTranspose3d(64, 32, 3, 2, 1, 1, bias=False)
        self.out = nn.Sequential(unit(32, 32), nn.Conv3d(32, 1, 3, 1, 1, bias=False))

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        left, right = self.features(left), self.features(right)
        width = left.shape[-1]
        moved = (functional.pad(right, (i, 0))[..., :width] for i in range(self.disparities))
        cost = self.cost(torch.stack([torch.cat([left, each], 1) for each in moved], 2))
        likely = self.out(cost + self.up(self.down(cost))).squeeze(1).softmax(1)
        return (likely * torch.arange(float(self.disparities)).view(1, -1, 1, 1)).sum(1)
