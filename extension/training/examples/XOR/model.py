# SPDX-License-Identifier: BSD-3-Clause
"""A network that learns exclusive or, with its loss."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 10)
        self.linear2 = nn.Linear(10, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear2(torch.sigmoid(self.linear(x)))


class TrainingNet(nn.Module):
    """(pairs of bits [n, 2], classes [n]) -> (loss, predicted classes [n])"""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net
        self.loss = nn.CrossEntropyLoss()

    def forward(self, input: Tensor, label: Tensor) -> tuple[Tensor, Tensor]:
        pred = self.net(input)
        return self.loss(pred, label), pred.detach().argmax(dim=1)
