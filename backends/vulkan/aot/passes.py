# SPDX-License-Identifier: BSD-3-Clause
"""What is done to a program before it is written, in order."""

from __future__ import annotations

from torch.export import ExportedProgram

from executorch.backends.transforms.addmm_mm_to_linear import AddmmToLinearTransform
from executorch.backends.transforms.fuse_batch_norm_with_conv import (
    CONVOLUTION,
    LINEAR,
    FuseBatchNormWithConvPass,
)
from executorch.exir.program._transform import _transform


class FuseBatchNorm(FuseBatchNormWithConvPass):
    sources = (CONVOLUTION, LINEAR)


def apply_passes(program: ExportedProgram) -> ExportedProgram:
    program = _transform(program, AddmmToLinearTransform())
    return _transform(program, FuseBatchNorm(program), AddmmToLinearTransform())
