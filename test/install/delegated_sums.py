# SPDX-License-Identifier: BSD-3-Clause
"""A small program with a delegate and an operator beside it, and what executor_runner says of it."""

from __future__ import annotations

from pathlib import Path

import torch

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower


class Sums(torch.nn.Module):
    """cumsum is not delegated."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)
        torch.nn.init.constant_(self.linear.weight, 0.5)
        torch.nn.init.zeros_(self.linear.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(self.linear(x), 1)


INPUT = torch.ones(1, 3)  # what executor_runner takes without --inputs
OUTPUT = [[1.5, 3.0]]
SHOWN = "OutputX 0: tensor(sizes=[1, 2], [1.5, 3.])"


def save(path: Path) -> Path:
    exported = torch.export.export(Sums().eval(), (INPUT,))
    lowered = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    lowered.to_executorch().save(str(path))
    return path
