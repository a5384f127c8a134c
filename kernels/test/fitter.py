# SPDX-License-Identifier: BSD-3-Clause
"""The drawer of arguments that fit together, and what its families are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from executorch.codegen.schema import Schema
from kernels.test.call_generator import Drawer, Start

Arguments = dict[str, Any]
Family = Callable[["Fitter"], Arguments]


REAL = (torch.float32, torch.float64)
COMPLEX = (torch.complex64, torch.complex128)


class Fitter(Drawer):
    """A drawer that knows which operator it draws for."""

    def __init__(self, seed: int, start: Start, schema: Schema) -> None:
        super().__init__(seed, start)
        self.op, self.overload = schema.name, schema.overload

    def unset_or(self, *shape: int) -> Tensor | None:
        """A tensor or None; always a tensor where its gradient is asked for."""
        made = self.like(*shape)
        return made if self.op.endswith("_backward") else self.choose(None, made)
