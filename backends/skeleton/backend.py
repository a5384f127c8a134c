# SPDX-License-Identifier: BSD-3-Clause
"""What the backend is, for all who ask: commands, recipes, tests, pages."""

from executorch.exir.backend.lowering.manifest import BackendManifest, OperatorPage

BACKENDS = (
    BackendManifest(
        package=__package__,
        name="skeleton",
        id="SkeletonBackend",
        partitioner="aot.partitioner:SkeletonPartitioner",
        quantizer="aot.quantizer:SkeletonQuantizer",
        operators=OperatorPage(table="aot.ops:TABLE", dtypes="fp32"),
        is_installed=False,
    ),
)
