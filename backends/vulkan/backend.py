# SPDX-License-Identifier: BSD-3-Clause
"""What the backend is, for all who ask: commands, recipes, tests, pages."""

from executorch.exir.backend.lowering.manifest import BackendManifest, OperatorPage

BACKENDS = (
    BackendManifest(
        package=__package__,
        name="vulkan",
        id="VulkanBackend",
        partitioner="partitioner.vulkan_partitioner:VulkanPartitioner",
        language_models="aot.language_models",
        operators=OperatorPage(table="aot.ops:TABLE", dtypes="fp32, fp16"),
    ),
)
