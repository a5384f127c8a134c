# SPDX-License-Identifier: BSD-3-Clause
"""Calls that look alike to a careless partitioner: dtypes, shapes, layouts, arguments, uses."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

F = torch.nn.functional


def _f(*shape: int) -> Tensor:
    return torch.randn(shape)


def _special() -> Tensor:
    return torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0, 1e-40, 3e38])


_PLUS: Callable[..., Tensor] = lambda x, y: x + y  # noqa: E731
_IMAGE = torch.randn(1, 2, 3, 4).to(memory_format=torch.channels_last)

# name -> what is computed, of which inputs
CALLS: dict[str, tuple[Callable[..., Tensor], tuple[Tensor, ...]]] = {
    "plain": (_PLUS, (_f(2, 3), _f(2, 3))),
    "product": (lambda x, y: x * y, (_f(2, 3), _f(2, 3))),
    "difference": (lambda x, y: x - y, (_f(2, 3), _f(2, 3))),
    "matmul": (torch.mm, (_f(2, 3), _f(3, 4))),
    "matmul of a vector": (torch.matmul, (_f(2, 3), _f(3))),
    "same operand twice": (lambda x: x + x, (_f(5),)),
    "a row": (_PLUS, (_f(2, 3), _f(3))),
    "a column and a row": (_PLUS, (_f(2, 1), _f(1, 3))),
    "more dimensions on the right": (_PLUS, (_f(3), _f(2, 2, 3))),
    "no dimensions": (_PLUS, (torch.tensor(1.5), torch.tensor(2.5))),
    "no dimensions and some": (_PLUS, (torch.tensor(1.5), _f(4))),
    "seven dimensions": (_PLUS, (_f(1, 2, 1, 2, 1, 2, 1), _f(1, 2, 1, 2, 1, 2, 1))),
    "no elements": (_PLUS, (_f(0, 3), _f(0, 3))),
    "a factor": (lambda x, y: torch.add(x, y, alpha=2), (_f(2, 3), _f(2, 3))),
    "a number": (lambda x: x + 1, (_f(2, 3),)),
    "a number on the left": (lambda x: 2.5 - x, (_f(2, 3),)),
    "half": (_PLUS, (_f(4).half(), _f(4).half())),
    "double": (_PLUS, (_f(4).double(), _f(4).double())),
    "int32": (_PLUS, (torch.arange(4, dtype=torch.int32), torch.arange(4, dtype=torch.int32))),
    "int64 that floats cannot hold": (_PLUS, (torch.tensor([2**53 + 1]), torch.tensor([0]))),
    "bool": (lambda x, y: x & y, (torch.tensor([True, False]), torch.tensor([True, True]))),
    "float and int": (_PLUS, (_f(3), torch.arange(3))),
    "float and double": (_PLUS, (_f(3), _f(3).double())),
    "NaN and infinities": (_PLUS, (_special(), torch.ones(6))),
    "products of NaN and infinities": (lambda x: x * x, (_special(),)),
    "channels last": (_PLUS, (_IMAGE, _IMAGE + 1)),
    "channels last and not": (_PLUS, (_IMAGE, _f(1, 2, 3, 4))),
    "a view": (lambda x, y: x.transpose(0, 1) + y, (_f(3, 2), _f(2, 3))),
    "an unsupported call between": (lambda x: x + torch.atan(x + x) * x, (_f(3),)),
    "a chain": (lambda x, y: ((x + y) * y + x) * (x + y), (_f(2, 3), _f(2, 3))),
    "reductions": (lambda x: (x + x).amax(-1, keepdim=True) + x.sum(), (_f(2, 3),)),
    "a window": (lambda x: F.max_pool2d(x + x, 2) * 2, (_f(1, 2, 4, 4),)),
}


class Calls(torch.nn.Module):
    """All of them, each over inputs of its own."""

    def forward(self, inputs: dict[str, tuple[Tensor, ...]]) -> dict[str, Tensor]:
        return {name: CALLS[name][0](*values) for name, values in inputs.items()}

    @staticmethod
    def inputs() -> dict[str, tuple[Tensor, ...]]:
        return {name: inputs for name, (_, inputs) in CALLS.items()}


class Uses(torch.nn.Module):
    """Results that are given twice, read inside and outside; a buffer that is written; an input given back."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(2, 2))
        self.weight = torch.nn.Parameter(torch.randn(2, 2))

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        both = x + y
        self.total.add_(both)
        scaled = self.weight + both
        halves = torch.cond(x.sum() > 0, lambda v: v + v, lambda v: v - 1, [both])
        constant = self.weight + self.weight
        return both, both, both + scaled, self.total + x, x, halves, constant + y


class Sum(torch.nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x + y + y
