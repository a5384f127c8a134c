# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Constants are in an order that kernels read: contiguous, or channels last.

before: %w = placeholder, transposed strides     after: the same values, contiguous
"""

from __future__ import annotations

import torch
from torch.export import ExportedProgram

from executorch.exir.graph_facts import data_specs, replace_data
from executorch.exir.passes.constant_prop_pass import get_constant_placeholder_dict
from executorch.exir.retrace.program import fake_mode_of


def convert_constant_dim_order_pass(exported_program: ExportedProgram) -> ExportedProgram:
    """Works in place. Operators whose result followed a constant's order may want a re-trace afterwards."""
    targets = {node: spec.target for node, spec in data_specs(exported_program).items()}
    mode = fake_mode_of(exported_program)
    for node, tensor in get_constant_placeholder_dict(exported_program).items():
        is_image = tensor.dim() == 4
        if tensor.is_contiguous() or (
            is_image and tensor.is_contiguous(memory_format=torch.channels_last)
        ):
            continue
        replace_data(exported_program, targets[node], tensor.detach().contiguous())
        with mode:
            node.meta["val"] = torch.empty(tensor.shape, dtype=tensor.dtype, device=tensor.device)
    return exported_program
