# SPDX-License-Identifier: BSD-3-Clause
"""What OpenVINO's backend is."""

from executorch.exir.backend.lowering.manifest import BackendManifest, OperatorPage

BACKENDS = (
    BackendManifest(
        package=__package__,
        name="openvino",
        runs_on="Intel CPUs, GPUs and NPUs",
        tried_with="CPUs, by OpenVINO 2025.4 and 2026",
        id="OpenvinoBackend",
        partitioner="partitioner:OpenvinoPartitioner",
        quantizer="quantizer.quantizer:OpenVINOQuantizer",
        recipes="recipes:OpenvinoRecipeType",
        recipe_of={
            "": "FP32",
            "int8": "INT8_MIXED",
            "int8-weights": "INT8WO_ASYM",
            "int4-weights": "INT4WO_ASYM",
        },
        language_models="aot.language_models",
        flows="test.flows:FLOWS",
        operators=OperatorPage(table="aot.ops:TABLE", dtypes="fp32, fp16"),
        # nncf 3.4 and later need openvino 2026
        extras={
            "openvino": ("openvino>=2025.4,<2027",),
            "openvino-nncf": ("openvino>=2025.4,<2027", "nncf>=3.1,<4"),
        },
        needs=("openvino",),
        get_sdk="pip install 'openvino>=2025.4,<2027'",
    ),
)
