# SPDX-License-Identifier: BSD-3-Clause
"""Image classification: a residual network of three blocks on 32 x 32 pixels."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from executorch.examples.models.model_base import EagerModelBase
from executorch.examples.models.resnet import BasicBlock

STAGES = ((16, 1), (32, 2), (64, 2))  # channels, stride


class ResNet8(nn.Module):
    def __init__(self, n_classes: int = 10) -> None:
        super().__init__()
        layers: list[nn.Module] = [
            nn.Conv2d(3, 16, 3, padding=1, bias=False),
            nn.BatchNorm2d(16),
            nn.ReLU(),
        ]
        channels = 16
        for out, stride in STAGES:
            block = BasicBlock(channels, out, stride)
            if block.downsample is not None:
                block.downsample = block.downsample[0]  # no batch norm here
            layers.append(block)
            channels = out
        self.features = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1))
        self.classifier = nn.Linear(channels, n_classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(torch.flatten(self.features(x), 1))


class ResNet8Model(EagerModelBase):
    def __init__(self) -> None:
        pass

    def get_eager_model(self) -> nn.Module:
        return ResNet8().eval()

    def get_example_inputs(self) -> tuple[torch.Tensor, ...]:
        return (torch.randn(1, 3, 32, 32),)
