# SPDX-License-Identifier: BSD-3-Clause
"""What a row of the survey is: a name, a module or a function, its inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn


@dataclass(frozen=True)
class Row:
    """`is_random`: values are not compared, shapes are. `more`: further inputs for a program whose sizes vary."""

    name: str
    code: nn.Module | Callable[..., Any]
    inputs: tuple[Any, ...]
    dynamic_shapes: Any = None
    more: tuple[tuple[Any, ...], ...] = ()
    is_random: bool = False
    tolerance: float = 1e-4

    def module(self) -> nn.Module:
        return self.code.eval() if isinstance(self.code, nn.Module) else Function(self.code)


class Function(nn.Module):
    """A module whose forward is the function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def row(name: str, code: Any, *inputs: Any, **options: Any) -> Row:
    return Row(name, code, inputs, **options)


def numbers(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Normal random numbers, the same in every run."""
    generator = torch.Generator().manual_seed(sum(sizes) + len(sizes))
    return torch.randn(*sizes, generator=generator).to(dtype)


def integers(high: int, *sizes: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(sizes) + high)
    return torch.randint(high, sizes, generator=generator)
