# SPDX-License-Identifier: BSD-3-Clause
"""The stages that `Tester` goes through."""

from executorch.backends.test.harness.stages.export import Export
from executorch.backends.test.harness.stages.partition import Partition
from executorch.backends.test.harness.stages.quantize import Quantize, Quantize_
from executorch.backends.test.harness.stages.run_passes import RunPasses
from executorch.backends.test.harness.stages.serialize import Serialize
from executorch.backends.test.harness.stages.stage import Stage, StageType
from executorch.backends.test.harness.stages.to_edge import ToEdge
from executorch.backends.test.harness.stages.to_edge_transform_and_lower import (
    ToEdgeTransformAndLower,
)
from executorch.backends.test.harness.stages.to_executorch import ToExecutorch

__all__ = [
    "Export",
    "Partition",
    "Quantize",
    "Quantize_",
    "RunPasses",
    "Serialize",
    "Stage",
    "StageType",
    "ToEdge",
    "ToEdgeTransformAndLower",
    "ToExecutorch",
]
