# SPDX-License-Identifier: BSD-3-Clause
"""The table of ops: what the NPU takes, under which conditions, and as which operators of TFLite, by family in the
files beside this one."""

from __future__ import annotations

from executorch.backends.nxp.aot import data_movement, elementwise, gemm, pooling, reduce
from executorch.backends.nxp.aot.rows import NeutronRow, NeutronTable
from executorch.backends.nxp.backend.neutron_target_spec import TARGETS, NeutronTarget


def rows_of(target: NeutronTarget) -> dict[str, NeutronRow]:
    fixed = {**elementwise.ROWS, **pooling.ROWS, **data_movement.ROWS}
    return {**fixed, **gemm.rows(target), **reduce.rows(target)}


TABLES = {name: NeutronTable(rows_of(target)) for name, target in TARGETS.items()}
TABLE = TABLES["imxrt700"]
