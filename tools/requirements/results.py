# SPDX-License-Identifier: BSD-3-Clause
"""Reads what the last runs of the tests said, from the XML that pytest and GoogleTest write.

Both write `<testcase>` elements; a test that proves rows has the property `req` (`@pytest.mark.req("RT-001")`,
`RecordProperty("req", "RT-001 RT-002")`), one that only `make test-full` runs the property `full`.
"""

from __future__ import annotations

import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path


@dataclass(frozen=True)
class Case:
    """One test of one result file."""

    name: str  # `exir.emit_test::test_a[1]`, `method_test::MethodTest.Runs`
    rows: tuple[str, ...]
    outcome: str  # passed, failed or skipped
    full: bool


@dataclass(frozen=True)
class Run:
    """One result file."""

    path: Path
    time: float  # when it was written, in seconds since 1970
    commit: str | None  # what was checked out then; None where git does not tell
    cases: tuple[Case, ...]


def read_run(path: Path, root: Path) -> Run:
    """`path` as a Run of the tree at `root`. Raises ParseError for a file that is not whole."""
    time = path.stat().st_mtime
    cases = tuple(_case(e, path.stem) for e in ElementTree.parse(path).iter("testcase"))
    return Run(path, time, commit_at(root, time), cases)


def _case(element: ElementTree.Element, stem: str) -> Case:
    properties = {e.get("name"): e.get("value", "") for e in element.iter("property")}
    children = {child.tag for child in element}
    group, name = element.get("classname", ""), element.get("name", "")
    ran = element.get("status", "run") == "run" and element.get("result") != "suppressed"
    if children & {"failure", "error"}:
        outcome = "failed"
    else:
        outcome = "passed" if ran and "skipped" not in children else "skipped"
    # GoogleTest's files are one for each program, pytest's one for each run.
    of_program = element.get("status") is not None
    full_name = f"{stem}::{group}.{name}" if of_program else f"{group}::{name}"
    return Case(full_name, tuple(properties.get("req", "").split()), outcome, "full" in properties)


def commit_at(root: Path, time: float | None = None) -> str | None:
    """The commit that was checked out in `root` then, by the log that git keeps of HEAD; without a time, now."""
    name = "HEAD"
    if time is not None:
        when = datetime.fromtimestamp(time, timezone.utc).isoformat(timespec="seconds")
        name = f"HEAD@{{{when}}}"
    command = ["git", "rev-parse", "--short", name]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


def read_runs(folders: Iterable[Path], root: Path) -> list[Run]:
    """Every result file of the folders, the oldest first."""
    paths = sorted({path for folder in folders for path in folder.glob("*.xml")})
    return sorted((read_run(path, root) for path in paths), key=lambda run: run.time)


def last_cases(runs: Iterable[Run]) -> list[Case]:
    """Each test as the newest run has it; `runs` as read_runs() orders them."""
    newest: dict[str, Case] = {}
    for run in runs:
        newest |= {case.name: case for case in run.cases}
    return list(newest.values())
