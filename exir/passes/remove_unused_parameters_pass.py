# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Parameters, buffers and constants that no call reads leave the program.

before: %w = placeholder without users           after: neither placeholder nor state_dict entry
"""

from __future__ import annotations

from torch.export import ExportedProgram

from executorch.exir.program_copies import drop_unused_data


def remove_unused_parameters_pass(ep: ExportedProgram) -> ExportedProgram:
    """Works in place and gives `ep` back."""
    drop_unused_data(ep)
    named = {spec.target for spec in ep.graph_signature.input_specs}
    ep._state_dict = {k: v for k, v in ep.state_dict.items() if k in named}
    ep._constants = {k: v for k, v in ep.constants.items() if k in named}
    ep.graph_module.recompile()
    return ep
