# SPDX-License-Identifier: BSD-3-Clause
"""Prints which requirement rows the last runs of the tests proved, and what is with the others.

usage: python -m executorch.tools.requirements.report [--area RT] [--list open,failed] [--check] [--page FILE]
e.g.   python -m executorch.tools.requirements.report --area RT --list open

What counts stands in tools/requirements/README.md. Ends with 1 where a row of a begun area has neither a test nor a
reason, whatever the results are.
"""

import argparse
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from executorch.tools.requirements import page
from executorch.tools.requirements.marks import tiers_of_rows
from executorch.tools.requirements.results import Case, Run, commit_at, last_cases, read_runs
from executorch.tools.requirements.rows import (
    Requirement,
    named_by,
    named_in_tests,
    read_areas,
    read_rulings,
    read_tables,
)

_ROOT = Path(__file__).resolve().parents[2]
TABLES = _ROOT / "test/requirements"
STATES = ("proven", "full only", "failed", "not run", "superseded", "waived", "open")
_DONE = {"proven", "full only", "superseded", "waived"}


@dataclass(frozen=True)
class State:
    name: str  # one of STATES
    note: str  # the tests, the reason, or what is missing


@dataclass(frozen=True)
class Rulings:
    superseded: dict[str, str]
    waived: dict[str, str]
    open: dict[str, str]


def read_all_rulings() -> Rulings:
    return Rulings(
        *(read_rulings(TABLES / f"{name}.yaml") for name in ("superseded", "waivers", "open"))
    )


def state_of(
    row: Requirement, cases: list[Case], marks: dict[str, list[str]], rulings: Rulings
) -> State:
    """The state of a row that is no index row; `cases` are the tests that carry its id."""
    if row.id in rulings.superseded:
        return State("superseded", rulings.superseded[row.id])
    failed = [case.name for case in cases if case.outcome == "failed"]
    if failed:
        return State("failed", ", ".join(failed))
    passed = [case for case in cases if case.outcome == "passed"]
    if passed:
        name = "full only" if all(case.full for case in passed) else "proven"
        return State(name, ", ".join(case.name for case in passed))
    if row.id in marks:
        why = "skipped in" if cases else "no result of"
        return State("not run", f"{why} {', '.join(marks[row.id])}")
    if row.id in rulings.waived:
        return State("waived", rulings.waived[row.id])
    return State("open", rulings.open.get(row.id, row.text[:120]))


def index_state(named: list[State]) -> State:
    """An index row is what the rows are that it names."""
    names = Counter(state.name for state in named)
    done = sum(names[name] for name in _DONE)
    note = f"{done} of {len(named)} rows"
    for worst in ("failed", "not run"):
        if names[worst]:
            return State(worst, note)
    if not names["proven"] + names["full only"] or done < len(named):
        return State("open", note)
    return State("full only" if names["full only"] else "proven", note)


def states(
    rows: list[Requirement], cases: list[Case], marks: dict[str, list[str]], rulings: Rulings
) -> dict[str, State]:
    by_row: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        for row_id in case.rows:
            by_row[row_id].append(case)
    found = {r.id: state_of(r, by_row[r.id], marks, rulings) for r in rows if not r.files}
    plain = [row for row in rows if not row.files]
    return {
        row.id: index_state([found[i] for i in named_by(row, plain)])
        if row.files
        else found[row.id]
        for row in rows
    }


def groups_of(rows: list[Requirement]) -> dict[str, str]:
    """Row -> where the page of all rows has it."""
    rulings, tiers = read_all_rulings(), tiers_of_rows(_ROOT)
    ruled = {"superseded": rulings.superseded, "waived": rulings.waived}
    return {row.id: page.group_of(row.id, tiers, ruled) for row in rows if not row.files}


def without_reason(rows: list[Requirement], found: dict[str, State]) -> list[str]:
    """Open rows of a begun area that open.yaml gives no reason for."""
    given = read_rulings(TABLES / "open.yaml")
    begun = {row.area for row in rows} - {*read_areas(TABLES / "open.yaml")}
    return [
        f"{row.id} of {row.area} has neither a test nor a reason: give it a test with its id, or an entry in"
        f" test/requirements/open.yaml or waivers.yaml ({row.text[:80]})"
        for row in rows
        if row.area in begun and not row.files and found[row.id].name == "open"
        if row.id not in given
    ]


def stale(runs: list[Run], head: str | None) -> list[str]:
    return [
        f"{run.path} is of {run.commit or 'an unknown commit'}, the tree is at {head}"
        for run in runs
        if run.commit != head
    ]


def render(rows: list[Requirement], found: dict[str, State]) -> list[str]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        counts[row.area][found[row.id].name] += 1
    counts["all"] = sum(counts.values(), Counter())
    lines = [f"{'area':36s}" + "".join(f"{state:>12s}" for state in STATES)]
    for area, count in counts.items():
        lines.append(f"{area:36s}" + "".join(f"{count[state]:12d}" for state in STATES))
    return lines


def _more(lines: Sequence[str]) -> str:
    return f", {len(lines) - 1} more alike" if lines[1:] else ""


def problems(found: dict[str, State], cases: list[Case], marks: dict[str, list[str]]) -> list[str]:
    """What --check fails on besides results of another commit."""
    ruled = read_all_rulings()
    named = {*marks, *ruled.superseded, *ruled.waived, *ruled.open}
    named |= {row_id for case in cases for row_id in case.rows}
    lines = [
        f"unknown row {row_id}: see {marks.get(row_id)}" for row_id in sorted(named - {*found})
    ]
    lines += [
        f"{row_id} is proven and in open.yaml" for row_id in ruled.open if _proven(found, row_id)
    ]
    lines += [
        f"{state.name}: {row_id} {state.note}"
        for row_id, state in found.items()
        if state.name in ("failed", "not run")
    ]
    return lines


def _proven(found: dict[str, State], row_id: str) -> bool:
    return row_id in found and found[row_id].name in ("proven", "full only")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--area", default="", help="only rows whose id starts so, such as RT or EXT"
    )
    parser.add_argument(
        "--list",
        default="",
        help=f"list the rows of these states, with commas: {', '.join(STATES)}",
    )
    parser.add_argument(
        "--results",
        type=Path,
        nargs="*",
        help="folders of result files; build/results and the build's",
    )
    parser.add_argument("--page", type=Path, help="write the page of all rows as well")
    parser.add_argument(
        "--check",
        action="store_true",
        help="fail when a row failed or did not run, results are of another commit, or a test or a ruling "
        "names a row that does not exist",
    )
    args = parser.parse_args(argv)
    build = Path(os.environ.get("EXECUTORCH_BUILD_DIR", _ROOT / "cmake-out"))
    runs = read_runs(args.results or [_ROOT / "build/results", build / "results"], _ROOT)
    cases, marks, rows = last_cases(runs), named_in_tests(_ROOT), read_tables(TABLES)
    found = states(rows, cases, marks, read_all_rulings())
    shown = [row for row in rows if row.id.startswith(args.area)]
    for row in shown:
        if found[row.id].name in args.list.split(","):
            print(f"{found[row.id].name:10s}  {row.id:8s}  {found[row.id].note}")
    lines = [*render(shown, found), f"{len(runs)} result files with {len(cases)} tests"]
    print("\n".join(lines))
    old = stale(runs, commit_at(_ROOT))
    if args.page:
        page.write(args.page, rows, groups_of(rows), runs)
    bare = without_reason(rows, found)
    wrong = problems(found, cases, marks) if args.check else []
    if old:
        print(old[0] + _more(old), file=sys.stderr)
    for line in [*bare, *wrong]:
        print(line, file=sys.stderr)
    return 1 if bare or (args.check and (old or wrong or not runs)) else 0


if __name__ == "__main__":
    sys.exit(main())
