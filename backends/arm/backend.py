# SPDX-License-Identifier: BSD-3-Clause
"""Arm's backends: Ethos-U and VGF."""

from executorch.exir.backend.lowering.manifest import BackendManifest, OperatorPage

BACKENDS = (
    BackendManifest(
        package=__package__,
        name="ethosu",
        runs_on="Arm Ethos-U55, U65 and U85",
        tried_with="Vela, the TOSA reference model, a stub of the driver; no NPU",
        id="EthosUBackend",
        partitioner="ethosu.partitioner:EthosUPartitioner",
        recipes="recipes:EthosURecipeType",
        recipe_of={"int8": "INT8"},
        precisions={"a16w8": "A16W8"},
        flows="test.flows:FLOWS",
        operators=OperatorPage(table="aot.ops:U55_TABLE", dtypes="int8, int16"),
    ),
    BackendManifest(
        package=__package__,
        name="vgf",
        runs_on="Vulkan's ML extensions",
        tried_with="the model converter, Arm's ML emulation layer; no device",
        id="VgfBackend",
        partitioner="vgf.partitioner:VgfPartitioner",
        recipes="recipes:VgfRecipeType",
        recipe_of={"": "FP32", "int8": "INT8"},
        precisions={"a16w8": "A16W8"},
        flows="test.flows:FLOWS",
        operators=OperatorPage(table="aot.ops:VGF_TABLE", dtypes="fp32, fp16, int8, int16"),
    ),
)
