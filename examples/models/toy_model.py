# SPDX-License-Identifier: BSD-3-Clause
"""Models of one or two operators."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from executorch.examples.models import small_programs as small
from executorch.examples.models.model_base import EagerModelBase


class _ToyModel(EagerModelBase, nn.Module):
    """A module that is its own model."""

    def __init__(self) -> None:
        nn.Module.__init__(self)

    def get_eager_model(self) -> nn.Module:
        return self

    def get_example_inputs(self) -> tuple[Any, ...]:
        raise NotImplementedError


class MulModule(small.Mul, _ToyModel):
    def get_example_inputs(self) -> tuple[Any, ...]:
        return torch.randn(3, 2), torch.randn(3, 2)


class LinearModule(_ToyModel):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, arg: torch.Tensor) -> torch.Tensor:
        return self.linear(arg)

    def get_example_inputs(self) -> tuple[Any, ...]:
        return (torch.randn(3, 3),)


class AddModule(small.Add, _ToyModel):
    def get_example_inputs(self) -> tuple[Any, ...]:
        return torch.ones(1), torch.ones(1)


class AddMulModule(small.AddMul, _ToyModel):
    def get_example_inputs(self) -> tuple[Any, ...]:
        return torch.ones(2, 2), 2 * torch.ones(2, 2), 3 * torch.ones(2, 2)


class SoftmaxModule(_ToyModel):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, -1)

    def get_example_inputs(self) -> tuple[Any, ...]:
        return (torch.zeros(2, 2),)


class Conv1dModule(_ToyModel):
    def __init__(self) -> None:
        super().__init__()
        self.conv1d = nn.Conv1d(3, 6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv1d(x)

    def get_example_inputs(self) -> tuple[Any, ...]:
        return (torch.randn(1, 3, 10),)


class SdpaModule(_ToyModel):
    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return nn.functional.scaled_dot_product_attention(q, k, v)

    def get_example_inputs(self) -> tuple[Any, ...]:
        return tuple(torch.randn(1, 2, 4, 8) for _ in range(3))
