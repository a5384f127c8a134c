# SPDX-License-Identifier: BSD-3-Clause
"""The hook of backends/test/conformance."""

from __future__ import annotations

import torch

from executorch.backends.openvino.aot.compiler import OPENVINO
from executorch.backends.openvino.partitioner import OpenvinoPartitioner
from executorch.backends.test.conformance.backend import Backend, Sample, Weights


def matrix(num_bytes: int) -> Sample:
    rows = max(1, num_bytes // 4 // 256)
    return torch.nn.Linear(256, rows, bias=False), (torch.randn(1, 256),)


BACKENDS = [
    Backend(
        "OpenvinoBackend",
        OpenvinoPartitioner,
        weights=Weights.BOTH,
        named_data=False,
        with_weights=matrix,
        why_missing=OPENVINO.why_missing,
    )
]
