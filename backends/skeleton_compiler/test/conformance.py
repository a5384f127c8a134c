# SPDX-License-Identifier: BSD-3-Clause
"""The hook of backends/test/conformance."""

from executorch.backends import skeleton_compiler
from executorch.backends.skeleton_compiler.aot.compiler import COMPILER
from executorch.backends.skeleton_compiler.aot.partitioner import SkeletonCompilerPartitioner
from executorch.backends.test.built import use_build
from executorch.backends.test.conformance.backend import Backend

use_build(skeleton_compiler)
BACKENDS = [
    Backend(
        "SkeletonCompilerBackend",
        SkeletonCompilerPartitioner,
        library="skeleton_compiler_backend",
        dynamic_shapes=False,
        why_missing=COMPILER.why_missing,
    )
]
