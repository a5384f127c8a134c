# SPDX-License-Identifier: BSD-3-Clause
"""What Core ML's backend is."""

from executorch.exir.backend.lowering.manifest import BackendManifest, OperatorPage

BACKENDS = (
    BackendManifest(
        package=__package__,
        name="coreml",
        runs_on="iPhones, iPads and Macs",
        tried_with="on Linux: numbers by an evaluator of models, the delegate on a stand-in; no Mac yet",
        id="CoreMLBackend",
        partitioner="partition.coreml_partitioner:CoreMLPartitioner",
        quantizer="quantizer.coreml_quantizer:CoreMLQuantizer",
        recipes="recipes:CoreMLRecipeType",
        recipe_of={
            "": "FP16",
            "int8": "PT2E_INT8_STATIC",
            "int8-weights": "PT2E_INT8_WEIGHT_ONLY",
            "int4-weights": "TORCHAO_INT4_WEIGHT_ONLY_PER_GROUP",
        },
        precisions={"int8-weights": "PT2E_INT8_WEIGHT_ONLY"},
        language_models="aot.language_models",
        operators=OperatorPage(table="aot.ops:TABLE", dtypes="fp32, fp16, int32"),
        extras={"coreml": ("coremltools==9.0",)},
        needs=("coremltools",),
        get_sdk="pip install coremltools==9.0",
    ),
)
