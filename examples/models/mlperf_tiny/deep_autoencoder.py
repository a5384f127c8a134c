# SPDX-License-Identifier: BSD-3-Clause
"""Anomaly detection: five frames of 128 mel bands through a bottleneck of 8 and back."""

from __future__ import annotations

import torch
from torch import nn

from executorch.examples.models.model_base import EagerModelBase

WIDTHS = (128, 128, 128, 128, 8, 128, 128, 128, 128)


class DeepAutoEncoder(nn.Module):
    def __init__(self, input_dim: int = 640) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        width = input_dim
        for out in WIDTHS:
            layers += [nn.Linear(width, out), nn.BatchNorm1d(out), nn.ReLU()]
            width = out
        self.layers = nn.Sequential(*layers, nn.Linear(width, input_dim))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


class DeepAutoEncoderModel(EagerModelBase):
    def __init__(self) -> None:
        pass

    def get_eager_model(self) -> nn.Module:
        return DeepAutoEncoder().eval()

    def get_example_inputs(self) -> tuple[torch.Tensor, ...]:
        return (torch.randn(1, 640),)
