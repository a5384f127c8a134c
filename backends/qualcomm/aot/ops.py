# SPDX-License-Identifier: BSD-3-Clause
"""The table of ops: what the NPU takes, under which conditions, and as which operators of QNN, by family in the files
beside this one."""

from __future__ import annotations

from executorch.backends.qualcomm.aot import (
    composed,
    data_movement,
    elementwise,
    gemm,
    images,
    norms,
    pooling,
    reduce,
)
from executorch.backends.qualcomm.aot.rows import QnnTable
from executorch.exir.backend.lowering.op_table import Row

_FAMILIES = (elementwise, composed, gemm, pooling, norms, reduce, data_movement, images)
ROWS: dict[str, Row] = {name: row for family in _FAMILIES for name, row in family.ROWS.items()}
TABLE = QnnTable(ROWS, composed.in_floats)
