# SPDX-License-Identifier: BSD-3-Clause
"""The hook of backends/test/conformance."""

from executorch.backends.test.conformance.backend import Backend, Weights
from executorch.exir.backend.test.op_partitioner_demo import (
    AddMulPartitionerDemo,
    AllNodesPartitionerDemo,
)

BACKENDS = [
    Backend(
        "BackendWithCompilerDemo",
        AddMulPartitionerDemo,
        library="demo_backend",
        weights=Weights.INPUTS,
        named_data=False,
        dynamic_shapes=False,
    ),
    Backend("ExecutorBackend", AllNodesPartitionerDemo, library="demo_backend", named_data=False),
]
