# SPDX-License-Identifier: BSD-3-Clause
"""The hook of backends/test/conformance."""

from math import isqrt

import torch

from executorch.backends.test.conformance.backend import Backend, Sample, Weights
from executorch.backends.xnnpack import XnnpackPartitioner


def _linear(num_bytes: int) -> Sample:
    width = isqrt(num_bytes // 4)
    return torch.nn.Linear(width, width), (torch.randn(1, width),)


BACKENDS = [Backend("XnnpackBackend", XnnpackPartitioner, weights=Weights.PACKED, weighted=_linear)]
