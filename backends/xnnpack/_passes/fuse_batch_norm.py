# SPDX-License-Identifier: BSD-3-Clause
# compat
"""`FuseBatchNormPass`: batch norms go into the weights of convolutions and linear layers before them."""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import Node

from executorch.backends.transforms.fuse_batch_norm_with_conv import (
    CONVOLUTION,
    LINEAR,
    FuseBatchNormWithConvPass,
    why_not_fused,
)
from executorch.backends.xnnpack._passes.xnnpack_pass import XNNPACKPass
from executorch.exir.backend.utils import WhyNoPartition


class FuseBatchNormPass(FuseBatchNormWithConvPass, XNNPACKPass):
    sources = (CONVOLUTION, LINEAR)

    def __init__(self, exported_program: ExportedProgram) -> None:
        FuseBatchNormWithConvPass.__init__(self, exported_program)
        self._exported_program = exported_program

    @staticmethod
    def can_fuse(
        input_node: Node, bn: Node, program: ExportedProgram, why: WhyNoPartition | None = None
    ) -> bool:
        """`why` gets the reason when it cannot."""
        reason = why_not_fused(input_node, bn, program)
        if reason and why is not None:
            why(bn, reason)
        return not reason
