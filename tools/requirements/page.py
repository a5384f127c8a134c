# SPDX-License-Identifier: BSD-3-Clause
"""test/requirements/state.md: each row once, by area and by the tier that proves it; when each tier was last green.

What the tree says is written anew each time. When a tier passed last is kept from the page where no result is newer.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from executorch.tools import pages
from executorch.tools.requirements.marks import TIERS
from executorch.tools.requirements.results import Run
from executorch.tools.requirements.rows import Requirement

COMMAND = "python -m executorch.tools.requirements.report --page test/requirements/state.md"
GROUPS = (*TIERS, "superseded", "waived", "open")
_SEEN = re.compile(r"^\| (fast|slow|full) \| \d+ \| (.*?) \| (.*?) \|$", re.M)
_HEAD = f"""# State of the requirement rows

Written by `{COMMAND}`.
A row stands under the first tier that has a test with its id
([tools/requirements](../../tools/requirements/README.md)); it is proved when that tier passed. Rows under `full` are
proved by `make test-full` alone. Reasons of open rows: [open.yaml](open.yaml); of the others:
[superseded.yaml](superseded.yaml),
[waivers.yaml](waivers.yaml). Index rows (IX) follow from the rows they name and are left out.
"""


@dataclass(frozen=True)
class Seen:
    """The last results of a tier."""

    commit: str = "no results yet"
    failed: str = ""  # rows, with commas


def group_of(row: str, tiers: Mapping[str, str], ruled: Mapping[str, Mapping[str, str]]) -> str:
    """One of GROUPS. `ruled`: superseded and waived rows; what has neither test nor ruling is open."""
    if row in ruled["superseded"]:
        return "superseded"
    return tiers.get(row) or ("waived" if row in ruled["waived"] else "open")


def text(rows: Sequence[Requirement], groups: Mapping[str, str], seen: Mapping[str, Seen]) -> str:
    plain = [row for row in rows if not row.files]
    counts = Counter(groups[row.id] for row in plain)
    lines = [_HEAD, "| tier | rows | last run at | of these failed |", "|---|---|---|---|"]
    for tier in TIERS:
        one = seen.get(tier, Seen())
        lines.append(f"| {tier} | {counts[tier]} | {one.commit} | {one.failed or '-'} |")
    lines += ["", f"| area | rows | {' | '.join(GROUPS)} |", "|---" * (len(GROUPS) + 2) + "|"]
    areas = [(area, list(each)) for area, each in groupby(plain, lambda row: row.area)]
    for area, each in [*areas, ("all", plain)]:
        found = Counter(groups[row.id] for row in each)
        cells = " | ".join(str(found[group] or "") for group in GROUPS)
        lines.append(f"| {area} | {len(each)} | {cells} |")
    for area, each in areas:
        lines += ["", f"## {area}", ""]
        for group in GROUPS:
            if ids := [row.id for row in each if groups[row.id] == group]:
                lines.append(f"- {group}: {ranges(ids)}")
    return "\n".join(lines) + "\n"


def ranges(ids: Iterable[str]) -> str:
    """RT-001, RT-002, RT-003, RT-C01 -> RT-001..003, RT-C01"""
    spans: list[list[str]] = []
    for row in ids:
        stem, number = re.fullmatch(r"(.*?)(\d+)", row).groups()  # type: ignore[union-attr]  # ids of the tables
        if spans and spans[-1][0] == stem and int(spans[-1][2]) + 1 == int(number):
            spans[-1][2] = number
        else:
            spans.append([stem, number, number])
    return ", ".join(f"{s}{a}" if a == b else f"{s}{a}..{b}" for s, a, b in spans)


def seen_on(page: Path) -> dict[str, Seen]:
    """What the page says of each tier's last run."""
    found = _SEEN.findall(page.read_text()) if page.exists() else []
    return {tier: Seen(commit, "" if failed == "-" else failed) for tier, commit, failed in found}


def seen_in(runs: Sequence[Run], groups: Mapping[str, str]) -> dict[str, Seen]:
    """Of each tier whose rows' tests ran, the newest run's commit and the rows that failed; `runs` the oldest first."""
    found: dict[str, Seen] = {}
    for tier in TIERS:
        state: dict[str, bool] = {}
        commit = None
        for run in runs:
            cases = [case for case in run.cases if case.full == (tier == "full")]
            ran = [case for case in cases if case.outcome != "skipped"]
            named = [(row, case) for case in ran for row in case.rows if groups.get(row) == tier]
            commit = run.commit if named else commit
            for row in {row for row, _ in named}:
                state[row] = all(case.outcome == "passed" for each, case in named if each == row)
        of_tier = [row for row, group in groups.items() if group == tier]
        # A few tests by hand are no run of the tier.
        if commit and len(state) > 0.5 * len(of_tier):
            found[tier] = Seen(commit, ranges(row for row, passed in state.items() if not passed))
    return found


def write(page: Path, rows: Sequence[Requirement], groups: Mapping[str, str], runs: Sequence[Run]) -> None:  # fmt: skip
    pages.write(page, text(rows, groups, seen_on(page) | seen_in(runs, groups)))
