# SPDX-License-Identifier: BSD-3-Clause
"""The hook of backends/test/conformance. Core ML runs delegates on Apple's devices; here, the evaluator of ML Programs
does."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import torch

from executorch.backends.test.conformance.backend import Backend, Run, Sample, Weights


def _partitioner() -> Any:
    """In float32, in which weights have as many bytes as those of the program. States are of float16 whatever is asked
    for, so that buffers stay the program's."""
    import coremltools as ct

    from executorch.backends.apple.coreml.compiler import CoreMLBackend
    from executorch.backends.apple.coreml.partition import CoreMLPartitioner

    specs = CoreMLBackend.generate_compile_specs(compute_precision=ct.precision.FLOAT32)
    return CoreMLPartitioner(compile_specs=specs, take_over_mutable_buffer=False)


def reference(payload: bytes, data: Mapping[str, bytes]) -> Run:
    from executorch.backends.apple.coreml.test import mil_evaluator

    return mil_evaluator.load(payload, data)


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
        wide_integers=False,
        with_weights=matrix,
        reference=reference,
        converts=True,
        runtime=False,
        why_missing=_why_missing,
    )
]
