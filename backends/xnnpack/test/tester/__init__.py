# SPDX-License-Identifier: BSD-3-Clause
"""The tester of backends/test with XNNPACK's partitioner and quantizer as defaults."""

from executorch.backends.test.harness.stages import Quantize_
from executorch.backends.xnnpack.test.tester.tester import (
    Export,
    Partition,
    Quantize,
    RunPasses,
    Serialize,
    Tester,
    ToEdge,
    ToEdgeTransformAndLower,
    ToExecutorch,
)

__all__ = [
    "Export",
    "Partition",
    "Quantize",
    "Quantize_",
    "RunPasses",
    "Serialize",
    "Tester",
    "ToEdge",
    "ToEdgeTransformAndLower",
    "ToExecutorch",
]
