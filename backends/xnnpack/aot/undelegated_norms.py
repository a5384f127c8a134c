# SPDX-License-Identifier: BSD-3-Clause
"""A batch norm behind a convolution that is not delegated, conv3d in groups for example, becomes part of its weights:
by itself it would be a delegate of two passes over its result.

before: %c = convolution(%x, %w, %b); %n = batch_norm(%c)[0]      after: %n = convolution(%x, %w', %b')
"""

from __future__ import annotations

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.backends.transforms.edits import call_before, in_dialect_of, replace
from executorch.backends.transforms.fuse_batch_norm_with_conv import (
    BATCH_NORMS,
    fused_weights,
    why_not_fused,
)
from executorch.backends.xnnpack.aot.constants import Constants
from executorch.backends.xnnpack.aot.ops import TABLE
from executorch.backends.xnnpack.aot.steps import CONVOLUTION
from executorch.exir.graph_facts import op_name
from executorch.exir.passes.constant_prop_pass import put_constants


def fold_undelegated_norms(program: ExportedProgram) -> None:
    """Works in place. Programs that compute gradients stay as they are: their weights change."""
    if program.graph_signature.backward_signature is not None:
        return
    constants = Constants(program)
    made: dict[Node, torch.Tensor] = {}
    for norm in list(program.graph.nodes):
        source = norm.args[0] if op_name(norm) in BATCH_NORMS else None
        if (
            source is None
            or op_name(source) != CONVOLUTION
            or not (TABLE.why_not(source, constants) or TABLE.row(source).why_slower(source))
            or why_not_fused(source, norm, program)
        ):
            continue
        clone = in_dialect_of(source, torch.ops.aten.clone.default)
        places = [call_before(norm, clone, (each,)) for each in (source.args[1], norm.args[3])]
        made |= zip(places, fused_weights(source, norm, program), strict=True)
        args = (source.args[0], *places, *source.args[3:])
        folded = call_before(norm, source.target, args, dict(source.kwargs))
        for item in list(norm.users):
            replace(item, folded)
    if made:
        put_constants(program, made)
