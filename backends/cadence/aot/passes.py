# SPDX-License-Identifier: BSD-3-Clause
"""The passes that rewrite an edge program, in order."""

from __future__ import annotations

from torch.export import ExportedProgram

from executorch.backends.cadence.aot.table import QUANTIZE_TABLE, TABLE
from executorch.exir.backend.lowering.table_pass import TablePass


def edge_passes(method_name: str, program: ExportedProgram) -> list[TablePass]:
    """For `edge_transform_passes` of a recipe."""
    return [TablePass(TABLE, program), TablePass(QUANTIZE_TABLE)]
