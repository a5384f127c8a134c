# SPDX-License-Identifier: BSD-3-Clause
"""The hook of backends/test/conformance."""

from __future__ import annotations

import torch

from executorch.backends.skeleton_kernels.aot.operators import LIBRARY
from executorch.backends.test.conformance.backend import KernelBackend
from executorch.backends.test.corpus.row import row

_Q = torch.ops.quantized_decomposed
_INT8 = (-128, 127, torch.int8)


def int8(*sizes: int) -> torch.Tensor:
    return torch.randint(-128, 128, sizes, dtype=torch.int8)


def add_relu(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.relu(x + y)


def quantized_mul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Of values that are stored with scales 0.1 and 0.05 and zero points 3 and -7; the result has 0.02 and 11."""
    left = _Q.dequantize_per_tensor(x, 0.1, 3, *_INT8)
    right = _Q.dequantize_per_tensor(y, 0.05, -7, *_INT8)
    return _Q.quantize_per_tensor(left * right, 0.02, 11, *_INT8)


KERNELS = [
    KernelBackend(
        "skeleton_kernels",
        LIBRARY,
        samples={
            "add_relu": (torch.randn(2, 3), torch.randn(2, 3)),
            "quantized_mul": (int8(2, 3), 3, int8(2, 3), -7, 0.25, 11),
        },
        rows=(
            row("a sum and its relu", add_relu, torch.randn(2, 3), torch.randn(2, 3)),
            row("a sum that is broadcast", add_relu, torch.randn(2, 3), torch.randn(3)),
            row("a product of int8", quantized_mul, int8(4, 5), int8(4, 5)),
        ),
    )
]
