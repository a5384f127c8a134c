# SPDX-License-Identifier: BSD-3-Clause
"""The hook of backends/test/conformance."""

from executorch.backends.skeleton.aot.partitioner import SkeletonPartitioner
from executorch.backends.skeleton.test import reference
from executorch.backends.test.conformance.backend import Backend

BACKENDS = [
    Backend(
        "SkeletonBackend", SkeletonPartitioner, library="skeleton_backend", reference=reference.load
    )
]
