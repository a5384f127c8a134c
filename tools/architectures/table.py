# SPDX-License-Identifier: BSD-3-Clause
"""All rows, by name."""

from __future__ import annotations

from executorch.tools.architectures import rows_audio, rows_text, rows_vision
from executorch.tools.architectures.row import Architecture

ARCHITECTURES: list[Architecture] = [*rows_text.ROWS, *rows_vision.ROWS, *rows_audio.ROWS]


def named(name: str) -> Architecture:
    for row in ARCHITECTURES:
        if row.name == name:
            return row
    raise SystemExit(f"no architecture is called {name!r}; --list prints them")
