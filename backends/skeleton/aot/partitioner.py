# SPDX-License-Identifier: BSD-3-Clause
"""`SkeletonPartitioner`: everything that a row of the table takes, in the largest pieces that can run in one step."""

from __future__ import annotations

import logging

from torch.export import ExportedProgram

from executorch.backends.skeleton.aot.ops import TABLE
from executorch.backends.skeleton.aot.preprocess import SkeletonBackend
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.utils import WhyNoPartition, tag_constant_data

logger = logging.getLogger(__name__)


class SkeletonPartitioner(Partitioner):
    """The log has, at level DEBUG, the reason for each call that is not delegated."""

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        constants = Constants(exported_program)
        claimed = TABLE.claimed(exported_program.graph, constants, WhyNoPartition(logger))
        spec = DelegationSpec(SkeletonBackend.__name__, [])
        tags = {f"skeleton{number}": spec for number in range(len(claimed))}
        for tag, partition in zip(tags, claimed, strict=True):
            for node in partition.nodes:
                node.meta["delegation_tag"] = tag
        tag_constant_data(exported_program)
        return PartitionResult(exported_program, tags)
