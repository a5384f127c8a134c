# SPDX-License-Identifier: BSD-3-Clause
"""The hook of backends/test/conformance. The runtime half needs a Mac; here an evaluator runs payloads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from executorch.backends.test.conformance.backend import Backend, Run, Weights


def partitioner(use_fp16: bool = False) -> Any:
    from executorch.backends.apple.mps.partition.mps_partitioner import MPSPartitioner
    from executorch.exir.backend.compile_spec_schema import CompileSpec

    return MPSPartitioner([CompileSpec("use_fp16", bytes([use_fp16]))])


def reference(payload: bytes, data: Mapping[str, bytes]) -> Run:
    from executorch.backends.apple.mps.test import mps_evaluator

    return mps_evaluator.load(payload, data)


BACKENDS = [
    Backend(
        "MPSBackend",
        partitioner,
        weights=Weights.BOTH,
        named_data=False,
        dynamic_shapes=False,
        reference=reference,
        runtime=False,
    )
]
