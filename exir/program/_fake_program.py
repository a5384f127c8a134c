# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Programs over fake data, for what asks about a graph and reads no weights."""

from __future__ import annotations

import copy

import torch
from torch.export import ExportedProgram
from torch.utils._pytree import tree_map_only

from executorch.exir.program_copies import own_copy
from executorch.exir.retrace.program import fake_mode_of


def get_fake_program(real_exported_program: ExportedProgram) -> ExportedProgram:
    """The program over fake parameters, buffers and constants: same graph, no data."""
    mode = fake_mode_of(real_exported_program)
    program = own_copy(real_exported_program)

    def fake(tensor: torch.Tensor) -> torch.Tensor:
        return mode.from_tensor(tensor, static_shapes=True)

    program._state_dict = tree_map_only(torch.Tensor, fake, dict(program.state_dict))
    program._constants = tree_map_only(torch.Tensor, fake, dict(program.constants))
    program._module_call_graph = copy.deepcopy(program.module_call_graph)
    return program


def update_to_real_program(
    fake_exported_program: ExportedProgram, real_exported_program: ExportedProgram
) -> None:
    """Gives the fake program the data of the real one again; works in place."""
    for name, data in real_exported_program.state_dict.items():
        if name in fake_exported_program.state_dict:
            fake_exported_program.state_dict[name] = data
    for name, data in real_exported_program.constants.items():
        if name in fake_exported_program.constants:
            fake_exported_program.constants[name] = data
