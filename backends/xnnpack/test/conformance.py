# SPDX-License-Identifier: BSD-3-Clause
"""The hook of backends/test/conformance."""

from dataclasses import replace
from math import isqrt

import torch

from executorch.backends.test.conformance.backend import Backend, Sample, Weights
from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.backends.xnnpack.test.needs_runtime import computes_halves


def _linear(num_bytes: int) -> Sample:
    width = isqrt(num_bytes // 4)
    return torch.nn.Linear(width, width), (torch.randn(1, width),)


def _int8() -> XNNPACKQuantizer:
    return XNNPACKQuantizer().set_global(get_symmetric_quantization_config())


_FLOAT = Backend("XnnpackBackend", XnnpackPartitioner, weights=Weights.PACKED, with_weights=_linear)
BACKENDS = [
    _FLOAT,
    replace(
        _FLOAT,
        name="XnnpackBackend in half precision",
        precision=torch.float16,
        weights=Weights.PACKED if computes_halves() else Weights.WIDENED,
    ),
    replace(_FLOAT, name="XnnpackBackend in int8", quantize=_int8),
]
