# SPDX-License-Identifier: BSD-3-Clause
"""What XNNPACK's backend is."""

from executorch.exir.backend.lowering.manifest import BackendManifest, OperatorPage

BACKENDS = (
    BackendManifest(
        package=__package__,
        name="xnnpack",
        runs_on="x86-64 and Arm CPUs",
        tried_with="x86-64; Arm and RISC-V emulated",
        id="XnnpackBackend",
        partitioner="partition.xnnpack_partitioner:XnnpackPartitioner",
        quantizer="quantizer.xnnpack_quantizer:XNNPACKQuantizer",
        recipes="recipes:XNNPackRecipeType",
        recipe_of={
            "": "FP32",
            "int8": "PT2E_INT8_STATIC_PER_CHANNEL",
            "int8-dynamic": "PT2E_INT8_DYNAMIC_PER_CHANNEL",
            "int4-weights": "TORCHAO_INT8_DYNAMIC_ACT_INT4_WEIGHT_PER_TENSOR",
        },
        precisions={"int8-dynamic": "PT2E_INT8_DYNAMIC_PER_CHANNEL"},
        language_models="aot.language_models",
        flows="test.tester.flows:FLOWS",
        operators=OperatorPage(
            table="aot.ops:TABLE",
            dtypes="fp32",
            quantization="aot.operator_page:quantization",
            path="op-support.csv",
        ),
    ),
)
