# SPDX-License-Identifier: BSD-3-Clause
"""The passes that rewrite an edge program, in order."""

from __future__ import annotations

from torch.export import ExportedProgram

from executorch.backends.skeleton_kernels.aot.ops import TABLE
from executorch.exir.backend.lowering.table_pass import TablePass


def edge_passes(method_name: str, program: ExportedProgram) -> list[TablePass]:
    """For `edge_transform_passes` of a recipe; `to_edge_transform_and_lower(program,
    transform_passes=edge_passes("forward", program))` without one."""
    return [TablePass(TABLE, program)]
