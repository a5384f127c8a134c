# SPDX-License-Identifier: BSD-3-Clause
"""The hook of backends/test/conformance: stand-ins of the wheels take all, and keep what they are given for PyTorch."""

from executorch.backends.mediatek.test.stand_in import (
    partitioner,
    reference,
    without_stand_in,
)
from executorch.backends.test.conformance.backend import Backend

BACKENDS = [
    Backend(
        "NeuropilotBackend",
        partitioner,
        named_data=False,
        refuses_options=False,  # the compiler is told all of them
        dynamic_shapes=False,
        runtime=False,
        reference=reference,
        leave=without_stand_in,
    )
]
