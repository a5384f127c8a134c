# SPDX-License-Identifier: BSD-3-Clause
"""The smallest model with parameters."""

import torch


class LinearModel(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)
