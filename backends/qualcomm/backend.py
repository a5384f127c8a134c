# SPDX-License-Identifier: BSD-3-Clause
"""What Qualcomm's backend is."""

from executorch.exir.backend.lowering.manifest import BackendManifest, OperatorPage

BACKENDS = (
    BackendManifest(
        package=__package__,
        name="qualcomm",
        runs_on="NPUs of Snapdragon; the SDK is the maker's",
        tried_with="graphs are made and recorded; no SDK yet",
        id="QnnBackend",
        partitioner="partition.qnn_partitioner:QnnPartitioner",
        quantizer="quantizer.quantizer:QnnQuantizer",
        operators=OperatorPage(table="aot.ops:TABLE", dtypes="fp16; quantized to 8 and 16 bits"),
        needs=("executorch.backends.qualcomm._qnn",),
        get_sdk="the module that calls Qualcomm's SDK is a later part",
        is_installed=False,
    ),
)
