# SPDX-License-Identifier: BSD-3-Clause
"""The network, and the network with its loss."""

from __future__ import annotations

import torch
from torch import nn


class CIFAR10Model(nn.Module):
    """images float32 [n, 3, 32, 32] -> logits [n, num_classes]"""

    def __init__(self, num_classes: int = 10) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, kernel_size=3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, kernel_size=3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(
            nn.Flatten(), nn.Linear(32 * 8 * 8, 64), nn.ReLU(), nn.Linear(64, num_classes)
        )

    def forward(self, x) -> torch.Tensor:
        return self.classifier(self.features(x))


class ModelWithLoss(nn.Module):
    """(images [n, 3, 32, 32], classes int64 [n]) -> (loss, predicted classes [n])"""

    def __init__(self, model: nn.Module, criterion: nn.CrossEntropyLoss) -> None:
        super().__init__()
        self.model = model
        self.criterion = criterion

    def forward(self, x: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        output = self.model(x)
        return self.criterion(output, target), output.detach().argmax(dim=1)
