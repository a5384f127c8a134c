# SPDX-License-Identifier: BSD-3-Clause
"""What Qualcomm's backend is."""

from executorch.exir.backend.lowering.manifest import BackendManifest, OperatorPage

BACKENDS = (
    BackendManifest(
        package=__package__,
        name="qualcomm",
        runs_on="NPUs of Snapdragon; the SDK is the maker's",
        tried_with="stand-ins of the SDK's libraries, which evaluate graphs",
        id="QnnBackend",
        partitioner="partition.default:default_partitioner",
        socs="partition.default:SOCS",
        graphs="aot.graph_file:writing",
        quantizer="quantizer.quantizer:QnnQuantizer",
        precisions={"a16w8": "quantizer.quantizer:wide_quantizer"},
        operators=OperatorPage(table="aot.ops:TABLE", dtypes="fp16; quantized to 8 and 16 bits"),
        needs=("executorch.backends.qualcomm._qnn",),
        why_missing="aot.sdk:why_missing",
        get_sdk="install Qualcomm's AI Engine Direct SDK, and build with EXECUTORCH_BUILD_QNN and QNN_SDK_ROOT",
    ),
)
