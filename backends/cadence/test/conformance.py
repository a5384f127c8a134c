# SPDX-License-Identifier: BSD-3-Clause
"""The hook of backends/test/conformance."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from executorch.backends.cadence.aot.operators import LIBRARY
from executorch.backends.test.conformance.backend import KernelBackend
from executorch.backends.test.corpus.row import row

_Q = torch.ops.quantized_decomposed
_INT8 = (-128, 127, torch.int8)


def int8(*sizes: int) -> torch.Tensor:
    return torch.randint(-128, 128, sizes, dtype=torch.int8)


def relu(x: torch.Tensor) -> torch.Tensor:
    return _Q.quantize_per_tensor(
        F.relu(_Q.dequantize_per_tensor(x, 0.1, 3, *_INT8)), 0.05, -128, *_INT8
    )


_BIAS = torch.arange(4, dtype=torch.int32)
_CONV = (1, 3, 0, 0.01, 0.5, 7, 1 << 30, -5)
KERNELS = [
    KernelBackend(
        "cadence",
        LIBRARY,
        samples={
            "quantize_per_tensor": (torch.randn(2, 3), 0.1, 3, *_INT8),
            "dequantize_per_tensor": (int8(2, 3), 0.1, 3, *_INT8),
            "quantized_linear.per_tensor": (
                *(int8(2, 3), int8(4, 3), _BIAS),
                *(3, -2, 1 << 30, -7, 5, None),
            ),
            "quantized_conv1d_ncl.per_tensor": (int8(2, 3, 9), int8(4, 3, 2), _BIAS)
            + ([2], [1], [1], *_CONV),
            "quantized_conv2d_nchw.per_tensor": (int8(2, 3, 6, 5), int8(4, 3, 2, 3), _BIAS)
            + ([1, 2], [1, 0], [2, 1], *_CONV),
            "quantized_relu.per_tensor": (int8(2, 3), 3, -128, 1 << 30, 2),
        },
        rows=(row("a relu of int8", relu, int8(4, 5)),),
    )
]
