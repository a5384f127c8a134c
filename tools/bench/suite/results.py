# SPDX-License-Identifier: BSD-3-Clause
"""Results as JSON lines, one a network, kept as soon as they are known; and which run they are of.

A row: name, family, place, cut, precision, threads, batch, clock, run, commit, `engines` (by label: difference, ms,
median, busy, rounds, way, or error), and `again`, the engines of a second measurement of the same run.
"""

from __future__ import annotations

import subprocess
import sys
import time

from executorch.tools.measure.json_lines import Row
from executorch.tools.measure.processes import ROOT

Key = tuple[str, str, int, int]


def key(row: Row) -> Key:
    return row["name"], row["precision"], row["threads"], row.get("batch", 1)


def commit() -> str:
    """That of the tree, with a + where files differ from it."""
    output = subprocess.run(
        ["git", "describe", "--always", "--exclude=*", "--dirty=+"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return output.stdout.strip() or "unknown"


def run_name(known: dict[Key, Row], resume: bool) -> dict[str, str]:
    """A new run, or the one that is resumed, which must be of the same commit: rows of two states are not compared."""
    now = commit()
    if not (resume and known):
        return {"run": time.strftime("%Y-%m-%d %H:%M:%S"), "commit": now}
    last = list(known.values())[-1]
    if last.get("commit", now) != now:
        sys.exit(
            f"--resume: the results are of commit {last['commit']}, the tree is at {now}; "
            "measure again from the beginning, without --resume"
        )
    return {"run": last.get("run", ""), "commit": now}


def of_one_run(rows: list[Row]) -> list[Row]:
    """The rows; refuses those of several runs."""
    runs = {row.get("run") for row in rows}
    if len(runs) > 1:
        message = ", ".join(sorted(map(str, runs)))
        sys.exit(
            f"a page is of one run of the command, and these rows are of {len(runs)}: {message}"
        )
    return rows
