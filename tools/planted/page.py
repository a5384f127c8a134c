# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a page of results: for each kind how many places it has, what was planted, and what tests noticed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from executorch.tools.planted.catalogue import Kind
from executorch.tools.planted.report import reason_of


@cache
def _text_at(root: Path, revision: str, file: str) -> str:
    """A file as a commit has it; empty where it has none."""
    words = ["git", "show", f"{revision}:./{file}"]
    return subprocess.run(words, cwd=root, capture_output=True, text=True, check=False).stdout


def was_there(root: Path, revision: str, test: str) -> bool:
    """Whether a commit has a test, `a_test.py::test_name[parameter]`, or all of a file."""
    file, _, name = test.partition("::")
    function = name.rpartition("::")[2].partition("[")[0]
    text = _text_at(root, revision, file)
    return f"def {function}(" in text if function else bool(text)


def rows_of(
    root: Path,
    kinds: Iterable[Kind],
    results: list[dict[str, Any]],
    reasons: list[tuple[str, str]],
    before: str,
) -> Iterator[tuple[Kind, str]]:
    """A row for each kind of which something was planted. `before`: the commit whose tests count as those before."""
    for kind in kinds:
        own = [row for row in results if row["kind"] == kind.name]
        if not own:
            continue
        noticed = [row for row in own if row["noticed"]]
        old = [row for row in noticed if was_there(root, before, row.get("test") or row["noticed"])]
        excused = [r for r in own if not r["noticed"] and reason_of(r["plant"], reasons)]
        counts = [sum(1 for _ in kind.plants(root)), *map(len, (own, old, noticed, excused))]
        yield kind, f"| {kind.name}: {kind.about} | {' | '.join(map(str, counts))} |"


def written(page: str, rows: Iterable[tuple[Kind, str]]) -> str:
    """The page with these rows in the place of those of the same kinds."""
    lines = page.splitlines()
    for kind, row in rows:
        start = f"| {kind.name}: {kind.about} |"
        places = [i for i, line in enumerate(lines) if line.startswith(start)]
        if len(places) != 1:
            raise ValueError(
                f"expected one row that begins with {start!r}, found {len(places)}; add it to the page's table"
            )
        lines[places[0]] = row
    return "\n".join(lines) + "\n"
