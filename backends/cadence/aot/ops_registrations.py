# SPDX-License-Identifier: BSD-3-Clause
"""Importing this defines `torch.ops.cadence`: functions.yaml's operators with the formulas of operators/, and those
that programs do not have, because a pass replaces them or a chip alone has them."""

from __future__ import annotations

import torch
from torch import Tensor

from executorch.backends.cadence.aot.operators import (
    convolutions,
    data_movement,
    elementwise,
    matmul,
    reductions,
)
from executorch.backends.cadence.aot.operators.library import LIBRARY as LIBRARY
from executorch.exir.backend.lowering.kernels.formulas import real

FAMILIES = (elementwise, matmul, convolutions, reductions, data_movement)
_without_kernels = torch.library.Library("cadence", "FRAGMENT")
_without_kernels.define("dequantize(Tensor X, Tensor X_scale, Tensor X_zero_point) -> Tensor Y")
_without_kernels.define(
    "slice_scatter_(Tensor(a!) self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1)"
    " -> Tensor(a!)"
)


def _slice_scatter_(
    self: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    return self.copy_(torch.slice_scatter(self, src, dim, start, end, step))


_without_kernels.impl("dequantize", real, "CompositeExplicitAutograd")
_without_kernels.impl("slice_scatter_", _slice_scatter_, "CompositeExplicitAutograd")
