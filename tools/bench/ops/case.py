# SPDX-License-Identifier: BSD-3-Clause
"""A measurement, and the tensors that measurements are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import torch

# Elements of the largest tensor of a row. Below MIDDLE the cost of a call hides that of the work.
SMALL, MIDDLE, LARGE = 1024, 16384, 1 << 20
SIZES = (SMALL, MIDDLE, LARGE)


@dataclass(frozen=True)
class Case:
    """One measurement: operator, what to print, arguments in the order of the schema.

    Results are compared with eager's unless they are random.
    """

    op: str
    label: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    random: bool = False

    def tensors(self) -> list[torch.Tensor]:
        return _tensors(self.args)

    @property
    def elements(self) -> int:
        """Of the largest tensor."""
        return max((t.numel() for t in self.tensors()), default=0)


def _tensors(values: Any) -> list[torch.Tensor]:
    if isinstance(values, torch.Tensor):
        return [values]
    if isinstance(values, (list, tuple)):
        return [tensor for value in values for tensor in _tensors(value)]
    return []


def line(n: int) -> torch.Tensor:
    """Positive numbers, where every function of one tensor but a few is defined."""
    return torch.rand(n) + 0.1


def matrix(n: int) -> torch.Tensor:
    side = math.isqrt(n)
    return torch.randn(side, n // side)


def nchw(n: int) -> torch.Tensor:
    """One image: 4 planes of 16 x 16, 16 of 32 x 32, 64 of 128 x 128."""
    side = {SMALL: 16, MIDDLE: 32, LARGE: 128}[n]
    return torch.randn(1, n // side**2, side, side)


def ncdhw(n: int) -> torch.Tensor:
    side = round((n // 2) ** (1 / 3))
    return torch.randn(1, 2, side, side, side)


def shape_of(tensor: torch.Tensor) -> str:
    return "x".join(map(str, tensor.shape))
