# SPDX-License-Identifier: BSD-3-Clause
"""Payloads of delegates: what they say of themselves, and as files for other tools."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from executorch.devtools.commands.output.report import Row, Table
from executorch.devtools.commands.program_file import ProgramFile, payload_reader


def facts_table(file: ProgramFile) -> Table:
    """A row per fact; without rows where no backend says any."""
    return Table("payloads", "What payloads say", list(_rows(file)))


def _rows(file: ProgramFile) -> Iterator[Row]:
    for method, index, backend, payload in _payloads(file):
        facts_of = getattr(payload_reader(backend), "facts", None)
        try:
            facts = [] if facts_of is None else facts_of(payload)
        except ValueError as error:
            facts = [("error", str(error))]
        for what, value in facts:
            yield {
                "method": method,
                "delegate": index,
                "backend": backend,
                "what": what,
                "value": value,
            }


def extract(file: ProgramFile, folder: Path) -> list[Path]:
    """Each payload as a file of its own, as it stands in the program."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for method, index, backend, payload in _payloads(file):
        path = folder / f"{method}_{index}_{backend}{_ending(backend, payload)}"
        path.write_bytes(payload)
        written.append(path)
    return written


def _ending(backend: str, payload: bytes) -> str:
    ending_of = getattr(payload_reader(backend), "ending", None)
    try:
        return ".bin" if ending_of is None else ending_of(payload)
    except ValueError:
        return ".bin"


def _payloads(file: ProgramFile) -> Iterator[tuple[str, int, str, bytes]]:
    for plan in file.program.execution_plan:
        for index, delegate in enumerate(plan.delegates):
            yield plan.name, index, delegate.id, file.payload(delegate)
