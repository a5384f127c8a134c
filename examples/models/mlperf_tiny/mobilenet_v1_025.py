# SPDX-License-Identifier: BSD-3-Clause
"""Visual wake words: MobileNetV1 (Howard et al., 2017) of a quarter of the width, 96 x 96 pixels, person or not."""

from __future__ import annotations

import torch
from torch import nn

from executorch.examples.models.model_base import EagerModelBase

# output channels and stride of each depthwise separable block: table 1 of the paper, a quarter as wide
BLOCKS = (
    (16, 1),
    (32, 2),
    (32, 1),
    (64, 2),
    (64, 1),
    (128, 2),
    *[(128, 1)] * 5,
    (256, 2),
    (256, 1),
)


def _conv(
    channels: int, out: int, kernel: int, stride: int = 1, groups: int = 1
) -> list[nn.Module]:
    convolution = nn.Conv2d(channels, out, kernel, stride, kernel // 2, groups=groups, bias=False)
    return [convolution, nn.BatchNorm2d(out), nn.ReLU()]


class MobileNetV1025(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layers, channels = _conv(3, 8, 3, stride=2), 8
        for out, stride in BLOCKS:
            layers += _conv(channels, channels, 3, stride, groups=channels)
            layers += _conv(channels, out, 1)
            channels = out
        self.features = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1))
        self.classifier = nn.Linear(channels, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(torch.flatten(self.features(x), 1))


class MobileNetV1025Model(EagerModelBase):
    def __init__(self) -> None:
        pass

    def get_eager_model(self) -> nn.Module:
        return MobileNetV1025().eval()

    def get_example_inputs(self) -> tuple[torch.Tensor, ...]:
        return (torch.randn(1, 3, 96, 96),)
