# SPDX-License-Identifier: BSD-3-Clause
"""What the backend is, for all who ask: commands, recipes, tests, pages."""

from executorch.exir.backend.lowering.manifest import BackendManifest, OperatorPage

BACKENDS = (
    BackendManifest(
        package=__package__,
        name="skeleton_compiler",
        id="SkeletonCompilerBackend",
        partitioner="aot.partitioner:SkeletonCompilerPartitioner",
        quantizer="aot.quantizer:SkeletonCompilerQuantizer",
        operators=OperatorPage(table="aot.ops:TABLE", dtypes="fp32; int16 by int4"),
        needs=("executorch.backends.skeleton_compiler._skeleton_compiler",),
        get_sdk="build with EXECUTORCH_BUILD_SKELETON_COMPILER",
        is_installed=False,
    ),
)
