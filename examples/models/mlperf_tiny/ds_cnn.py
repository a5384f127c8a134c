# SPDX-License-Identifier: BSD-3-Clause
"""Keyword spotting: 49 frames of 10 coefficients, depthwise separable convolutions, 12 words."""

from __future__ import annotations

import torch
from torch import nn

from executorch.examples.models.model_base import EagerModelBase

CHANNELS, BLOCKS = 64, 4


def _conv(
    channels: int, kernel: int | tuple[int, int], **options: int | tuple[int, int]
) -> list[nn.Module]:
    return [
        nn.Conv2d(channels, CHANNELS, kernel, bias=False, **options),
        nn.BatchNorm2d(CHANNELS),
        nn.ReLU(),
    ]


class DSCNNKWS(nn.Module):
    def __init__(self, num_classes: int = 12) -> None:
        super().__init__()
        layers = [*_conv(1, (10, 4), stride=2, padding=(5, 1)), nn.Dropout(0.2)]
        for _ in range(BLOCKS):
            layers += _conv(CHANNELS, 3, padding=1, groups=CHANNELS)
            layers += _conv(CHANNELS, 1)
        self.features = nn.Sequential(*layers, nn.Dropout(0.4), nn.AdaptiveAvgPool2d(1))
        self.classifier = nn.Linear(CHANNELS, num_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(torch.flatten(self.features(x), 1))


class DSCNNKWSModel(EagerModelBase):
    def __init__(self) -> None:
        pass

    def get_eager_model(self) -> nn.Module:
        return DSCNNKWS().eval()

    def get_example_inputs(self) -> tuple[torch.Tensor, ...]:
        return (torch.randn(1, 1, 49, 10),)
