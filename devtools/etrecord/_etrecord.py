# SPDX-License-Identifier: BSD-3-Clause
"""ETRecords made by hand, beside those that the managers make with `generate_etrecord=True`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, BinaryIO

from torch.export import ExportedProgram

from executorch.exir.program._etrecord import (
    ETRecord,
    ETRecordReservedFileNames,
    parse_etrecord,
)

__all__ = ["ETRecord", "ETRecordReservedFileNames", "generate_etrecord", "parse_etrecord"]


def generate_etrecord(
    et_record: str | os.PathLike[str] | BinaryIO,
    edge_dialect_program: Any,
    executorch_program: Any,
    exported_program: ExportedProgram | Mapping[str, ExportedProgram] | None = None,
    extra_recorded_export_modules: Mapping[str, Any] | None = None,
) -> None:
    """Writes the record of `executorch_program`, made from the manager `edge_dialect_program`. Neither changes when
    the other is used, so that no copy is needed here."""
    record = ETRecord()
    record.add_exported_program(exported_program)
    record.add_edge_dialect_program(edge_dialect_program)
    record.add_executorch_program(executorch_program)
    record.add_extra_export_modules(extra_recorded_export_modules or {})
    record.save(et_record)
