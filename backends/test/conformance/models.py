# SPDX-License-Identifier: BSD-3-Clause
"""Models of the checks: all calls of the corpus that look alike, and results in many uses."""

from __future__ import annotations

import torch
from torch import Tensor

from executorch.backends.test.conformance.backend import Backend
from executorch.backends.test.corpus.lookalikes import LOOKALIKES
from executorch.backends.test.corpus.row import Row


class Calls(torch.nn.Module):
    """All of them, each over inputs of its own."""

    def forward(self, inputs: dict[str, tuple[Tensor, ...]]) -> dict[str, Tensor]:
        codes = {row.name: row.code for row in LOOKALIKES}
        return {name: codes[name](*values) for name, values in inputs.items()}

    @staticmethod
    def inputs(backend: Backend) -> dict[str, tuple[Tensor, ...]]:
        """Of all; where they are quantized, of those that have a range; of what integers of 32 bits hold, where others
        are computed in these."""
        wanted = [row for row in LOOKALIKES if not backend.quantize or _has_range(row)]
        wanted = [row for row in wanted if backend.wide_integers or not is_wide(row)]
        return backend.floats({row.name: row.inputs for row in wanted})


def _has_range(row: Row) -> bool:
    return all(value.numel() and bool(value.isfinite().all()) for value in row.inputs)


def is_wide(row: Row) -> bool:
    """Of integers that 32 bits do not hold."""
    tensors = [value for value in row.inputs if isinstance(value, Tensor)]
    integers = [value for value in tensors if value.dtype == torch.int64]
    return any(bool((value != value.int()).any()) for value in integers)


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
