# SPDX-License-Identifier: BSD-3-Clause
"""Parameters, buffers and constants that no call reads leave the program.

before: %w = placeholder without users           after: neither placeholder nor state_dict entry
"""

from __future__ import annotations

from torch.export import ExportedProgram

from executorch.exir.program_copies import drop_unused_data, own_copy


def remove_unused_parameters_pass(ep: ExportedProgram) -> ExportedProgram:
    """A new program; `ep` stays as it is."""
    result = own_copy(ep)
    drop_unused_data(result)
    named = {spec.target for spec in result.graph_signature.input_specs}
    result._state_dict = {k: v for k, v in result.state_dict.items() if k in named}
    result._constants = {k: v for k, v in result.constants.items() if k in named}
    result.graph_module.recompile()
    return result
