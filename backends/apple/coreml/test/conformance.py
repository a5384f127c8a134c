# SPDX-License-Identifier: BSD-3-Clause
"""The hook of backends/test/conformance. Delegates run where Core ML is, so values are not asked for."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import torch

from executorch.backends.test.conformance.backend import Backend, Sample, Weights


def _partitioner() -> Any:
    """In float32, in which weights have as many bytes as those of the program."""
    import coremltools as ct

    from executorch.backends.apple.coreml.compiler import CoreMLBackend
    from executorch.backends.apple.coreml.partition import CoreMLPartitioner

    specs = CoreMLBackend.generate_compile_specs(compute_precision=ct.precision.FLOAT32)
    return CoreMLPartitioner(compile_specs=specs)


def _why_missing() -> str:
    return "" if find_spec("coremltools") else "coremltools is not installed"


def matrix(num_bytes: int) -> Sample:
    rows = max(1, num_bytes // 4 // 256)
    return torch.nn.Linear(256, rows, bias=False), (torch.randn(1, 256),)


BACKENDS = [
    Backend(
        "CoreMLBackend",
        _partitioner,
        weights=Weights.BOTH,
        named_data=False,
        joins_methods=True,
        weighted=matrix,
        runtime=False,
        why_missing=_why_missing,
    )
]
