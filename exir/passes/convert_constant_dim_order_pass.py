# SPDX-License-Identifier: BSD-3-Clause
"""Constants lie in memory in the contiguous order.

before: %w = placeholder, strides of channels last     after: the same values, contiguous
"""

from __future__ import annotations

import torch
from torch.export import ExportedProgram

from executorch.exir.passes.constant_prop_pass import get_constant_placeholder_dict
from executorch.exir.retrace.program import fake_mode_of


def convert_constant_dim_order_pass(exported_program: ExportedProgram) -> ExportedProgram:
    """Works in place. Operators whose result followed a constant's order may want a re-trace afterwards."""
    signature = exported_program.graph_signature
    names = {spec.arg.name: spec.target for spec in signature.input_specs}
    mode = fake_mode_of(exported_program)
    for node, tensor in get_constant_placeholder_dict(exported_program).items():
        if tensor.is_contiguous():
            continue
        name = names[node.name]
        owner = exported_program.state_dict
        owner = owner if name in owner else exported_program.constants
        data = tensor.detach().contiguous()
        is_parameter = isinstance(tensor, torch.nn.Parameter)
        owner[name] = torch.nn.Parameter(data, tensor.requires_grad) if is_parameter else data
        with mode:
            node.meta["val"] = torch.empty(tensor.shape, dtype=tensor.dtype, device=tensor.device)
    return exported_program
