# SPDX-License-Identifier: BSD-3-Clause
"""Programs of a few operators, one for each thing a program can do besides computing."""

from __future__ import annotations

import torch
from torch import nn


class Add(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


class Mul(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x * y


class AddMul(nn.Module):
    def forward(self, a: torch.Tensor, x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.mm(a, x) + b


class Cond(nn.Module):
    """Takes one of two branches, each with a constant of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.when_positive, self.otherwise = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(
            x.sum() > 0,
            lambda x: torch.relu(self.when_positive(x)),
            lambda x: self.otherwise(x) * 2.0,
            (x,),
        )


class Encode(nn.Module):
    def __init__(self, shared: nn.Linear) -> None:
        super().__init__()
        self.shared = shared

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.shared(x))


class Decode(nn.Module):
    def __init__(self, shared: nn.Linear) -> None:
        super().__init__()
        self.shared = shared

    def forward(self, x: torch.Tensor, scale: float) -> torch.Tensor:
        return torch.mm(x, self.shared.weight) * scale


class RunningTotal(nn.Module):
    """Adds every input to a buffer that starts at 5, and counts calls in one that starts at 0."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.full((2, 3), 5.0))
        self.register_buffer("calls", torch.zeros(1, dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        self.total.add_(x)
        self.calls.add_(1)
        return self.total * 1.0, self.calls + 0


class ListOutput(nn.Module):
    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        first, second = torch.split(x, 2)
        return [first + 1, second * 2, torch.cat([second, first])]


class DynamicRows(nn.Module):
    """Any number of rows up to the bound of the export."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = torch.relu(self.linear(x))
        return y.reshape(-1), torch.softmax(y, -1).mean(0)


class DictOutput(nn.Module):
    """Containers on the way in and on the way out."""

    def forward(self, x: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return {"sum": x["a"] + x["b"], "difference": x["a"] - x["b"]}


class Expansion(nn.Sequential):
    """A MobileNet's block without its end: a matmul of 1.5 MiB, which the XNNPACK backend computes into a ring
    buffer of rows."""

    def __init__(self) -> None:
        channels = 96
        depthwise = nn.Conv2d(channels, channels, 3, stride=2, padding=1, groups=channels)
        super().__init__(nn.Conv2d(4, channels, 1), nn.ReLU6(), depthwise, nn.ReLU6())


class SmallImage(nn.Module):
    """What an image network is made of, once each: convolutions, a residual, pooling, padding, a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU6()
        )
        self.deep = nn.Sequential(
            nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Hardswish(), nn.Conv2d(8, 8, 1)
        )
        self.classifier = nn.Linear(16, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.stem(x)
        y = y + self.deep(y)
        z = torch.cat([y, torch.sigmoid(y)], dim=1)
        z = nn.functional.max_pool2d(nn.functional.pad(z, (1, 0, 1, 0)), 2)
        return torch.softmax(self.classifier(z.mean([2, 3])), dim=-1)
