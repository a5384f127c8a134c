# SPDX-License-Identifier: BSD-3-Clause
"""What the backend of Metal Performance Shaders is."""

from executorch.exir.backend.lowering.manifest import BackendManifest, OperatorPage

BACKENDS = (
    BackendManifest(
        package=__package__,
        name="mps",
        runs_on="GPUs of Macs and iPhones; deprecated, coreml is for both",
        tried_with="payloads are made on Linux, their numbers checked by an evaluator; no Mac yet",
        id="MPSBackend",
        partitioner="partition.mps_partitioner:MPSPartitioner",
        language_models="aot.language_models",
        operators=OperatorPage(table="aot.ops:TABLE", dtypes="fp16, fp32"),
    ),
)
