# SPDX-License-Identifier: BSD-3-Clause
"""What an engine is asked to prepare, and what it gives back."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

Run = Callable[[], Sequence[Any]]  # one run; its outputs, flat


@dataclass(frozen=True)
class Case:
    """`path` is that of the saved program; files that an engine makes of it stand beside, and are made once."""

    program: torch.export.ExportedProgram
    precision: (
        str  # float, float16, bfloat16, int8 (static), dynamic (int8 weights, rows as they come)
    )
    inputs: list[torch.Tensor]
    path: str
    threads: int

    @property
    def arrays(self) -> list[Any]:
        return [tensor.numpy() for tensor in self.inputs]

    def made(self, ending: str, make: Callable[[str], None]) -> str:
        """The file with this ending; `make(name)` writes it unless it is there."""
        name = self.path + ending
        if not os.path.exists(name):
            make(name)
        return name
