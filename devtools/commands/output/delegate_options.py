# SPDX-License-Identifier: BSD-3-Clause
"""What a file asks of its delegates' backends, by name where the backend says what its options are."""

from __future__ import annotations

from collections import Counter

from executorch.devtools.commands.output.report import Table
from executorch.devtools.commands.program_file import ProgramFile, payload_reader
from executorch.exir.backend.lowering.payload.options import shown_options


def options_table(file: ProgramFile) -> Table:
    """A row per backend, option and value; without rows when there are no options."""
    counts = Counter(
        (delegate.id, key, value, "file" if is_given else "default")
        for plan in file.program.execution_plan
        for delegate in plan.delegates
        for key, value, is_given in shown_options(
            getattr(payload_reader(delegate.id), "OPTIONS", None), delegate.compile_specs
        )
    )
    rows = [
        {"backend": backend, "option": key, "value": value, "from": source, "delegates": count}
        for (backend, key, value, source), count in counts.items()
    ]
    return Table("delegate_options", "Options of delegates", rows)
