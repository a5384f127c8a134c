# SPDX-License-Identifier: BSD-3-Clause
"""Writes pages of results: `--page build/pages/NAME.md` of commands that measure.

Three pages stand in the tree, docs/results/{speed,accuracy,builds}.md: they take over whole sections of these.
"""

from __future__ import annotations

from pathlib import Path


def write(path: Path, text: str) -> None:
    """Makes the folder where it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
