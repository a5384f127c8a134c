# SPDX-License-Identifier: BSD-3-Clause
"""The hook of backends/test/conformance: on the stand-ins of the SDK, which take a part of the operators."""

from executorch.backends.qualcomm.partition.qnn_partitioner import QnnPartitioner
from executorch.backends.qualcomm.test import stand_in
from executorch.backends.test.conformance.backend import Backend

BACKENDS = [
    Backend(
        "QnnBackend",
        lambda: QnnPartitioner(stand_in.specs_with_library()),
        library="qnn_executorch_backend",
        named_data=False,
        dynamic_shapes=False,
        wide_integers=False,
        why_missing=stand_in.why_missing,
    )
]
