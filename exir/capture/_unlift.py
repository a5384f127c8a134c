# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Programs whose data stands in the graph module again, as attributes, instead of among the inputs."""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import GraphModule


def unlift_exported_program_lifted_states(ep: ExportedProgram) -> GraphModule:
    """The graph module of `ep` with parameters, buffers and constants as attributes; `ep` stays as it is."""
    return ep.module(check_guards=False)
