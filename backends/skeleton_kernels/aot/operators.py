# SPDX-License-Identifier: BSD-3-Clause
"""`torch.ops.skeleton_kernels`: the operators of functions.yaml, by PyTorch's own. The kernels give the same bits."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from executorch.exir.backend.lowering.kernels.library import KernelLibrary

LIBRARY = KernelLibrary("skeleton_kernels", Path(__file__).parents[1] / "functions.yaml")


@LIBRARY.implement("add_relu")
def add_relu(x: Tensor, y: Tensor) -> Tensor:
    return torch.relu(x + y)


@LIBRARY.implement("quantized_mul")
def quantized_mul(
    x: Tensor, x_zero_point: int, y: Tensor, y_zero_point: int, scale: float, out_zero_point: int
) -> Tensor:
    """`scale`: that of x times that of y, by that of the result."""
    product = (x.double() - x_zero_point) * (y.double() - y_zero_point)
    return torch.clamp(torch.round(product * scale) + out_zero_point, -128, 127).to(torch.int8)
