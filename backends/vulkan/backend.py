# SPDX-License-Identifier: BSD-3-Clause
"""What the backend is, for all who ask: commands, recipes, tests, pages."""

from executorch.exir.backend.lowering.manifest import BackendManifest, OperatorPage

BACKENDS = (
    BackendManifest(
        package=__package__,
        name="vulkan",
        runs_on="GPUs with Vulkan 1.1",
        tried_with="a driver that computes on the CPU, with validation layers",
        id="VulkanBackend",
        partitioner="partitioner.vulkan_partitioner:VulkanPartitioner",
        quantizer="quantizer.vulkan_quantizer:VulkanQuantizer",
        recipes="recipes:VulkanRecipeType",
        recipe_of={
            "": "FP32",
            "int8": "PT2E_INT8_STATIC_PER_CHANNEL",
            "int8-weights": "PT2E_INT8_WEIGHT_ONLY",
            "int4-weights": "TORCHAO_INT8_DYNAMIC_ACT_INT4_WEIGHT",
        },
        precisions={"int8-weights": "PT2E_INT8_WEIGHT_ONLY"},
        language_models="aot.language_models",
        flows="test.flows:FLOWS",
        operators=OperatorPage(
            table="aot.ops:TABLE", dtypes="fp32, fp16", path="vulkan-op-support-table.csv"
        ),
    ),
)
