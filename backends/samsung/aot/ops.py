# SPDX-License-Identifier: BSD-3-Clause
"""The table of ops: what the NPU takes, under which conditions, and as which operators of Samsung's graph library, by
family in the files beside this one."""

from __future__ import annotations

from executorch.backends.samsung.aot import data_movement, elementwise, gemm, norms, pooling
from executorch.backends.samsung.aot.rows import EnnRow, EnnTable

_FAMILIES = (elementwise, gemm, pooling, norms, data_movement)
ROWS: dict[str, EnnRow] = {name: row for family in _FAMILIES for name, row in family.ROWS.items()}
TABLE = EnnTable(ROWS)
