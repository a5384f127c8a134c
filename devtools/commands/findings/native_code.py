# SPDX-License-Identifier: BSD-3-Clause
"""Delegates that are machine code, which a runtime loads as it is."""

from __future__ import annotations

from executorch.devtools.commands.output.finding import TRUST, Finding
from executorch.devtools.commands.program_file import ProgramFile, payload_reader


def native_code(file: ProgramFile) -> list[Finding]:
    """One per backend whose payload reader says so (exir/backend/payload.py)."""
    found: dict[str, list[str]] = {}
    for plan in file.program.execution_plan:
        for delegate in plan.delegates:
            says = getattr(payload_reader(delegate.id), "native_code", None)
            if says is not None:
                found.setdefault(delegate.id, []).append(_text(says, file.payload(delegate)))
    step = "load it only when you trust who made it; the option allow_native_code refuses it"
    return [
        Finding(TRUST, f"{backend} carries native code", places[0], step, len(places))
        for backend, places in found.items()
    ]


def _text(says: object, payload: bytes) -> str:
    try:
        return says(payload)
    except ValueError as error:  # another payload than the backend's: it loads none
        return str(error)
