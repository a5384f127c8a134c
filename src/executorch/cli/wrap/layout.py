# SPDX-License-Identifier: BSD-3-Clause
"""Lines of code that stay readable: what is long has an item on each line."""

from __future__ import annotations

from collections.abc import Sequence

_WIDTH = 110


def listed(before: str, items: Sequence[str], after: str, step: int = 2) -> list[str]:
    """`before` ends with an opening bracket, `after` begins with the closing one; `step`: a level's indentation."""
    line = before + ", ".join(items) + after
    if len(line) <= _WIDTH or not items:
        return [line]
    indent = before[: len(before) - len(before.lstrip())]
    rows = [f"{indent}{' ' * step}{item}," for item in items]
    return [before.rstrip(), *rows[:-1], rows[-1][:-1], f"{indent}{after}"]
