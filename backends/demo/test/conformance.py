# SPDX-License-Identifier: BSD-3-Clause
"""The hook of backends/test/conformance."""

from collections.abc import Mapping

from executorch.backends.test.conformance.backend import Backend, Run, Weights
from executorch.exir.backend.test.op_partitioner_demo import (
    AddMulPartitionerDemo,
    AllNodesPartitionerDemo,
)
from executorch.extension.pybindings.portable_lib import (
    _load_for_executorch_from_buffer as load,
)


def _load_program(payload: bytes, data: Mapping[str, bytes]) -> Run:
    """The payload is a program, which the Python runtime runs as it is."""
    return load(payload).forward


BACKENDS = [
    Backend(
        "BackendWithCompilerDemo",
        AddMulPartitionerDemo,
        library="demo_backend",
        weights=Weights.INPUTS,
        named_data=False,
        refuses_options=False,
        dynamic_shapes=False,
    ),
    Backend(
        "ExecutorBackend",
        AllNodesPartitionerDemo,
        library="demo_backend",
        named_data=False,
        refuses_options=False,
        reference=_load_program,
    ),
]
