# SPDX-License-Identifier: BSD-3-Clause
"""Prints which listed public names and signatures exist here, per area.

Three tables: names that other people's code imports and headers that it includes, weighed by the files that use
them (test/api/*.tsv), and every listed declaration (test/api/*.md). What is to come and what is left out on
purpose are rows of test/api/left_out.yaml, each with its reason.

usage: python -m executorch.tools.api.report [--write build/api.md] [--generated cmake-out/generated] [--missing]
e.g.   python -m executorch.tools.api.report --missing | less
"""

import argparse
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import yaml

from executorch.tools.api import cpp_report, python_report
from executorch.tools.api.imported_names import Used, area_of, used_headers, used_names
from executorch.tools.api.verdict import Verdict

_ROOT = Path(__file__).resolve().parents[2]
API = _ROOT / "test/api"
_STATES = ("exists", "differs", "missing", "left out", "open")


@dataclass(frozen=True)
class Rule:
    """A row of test/api/left_out.yaml: a pattern over `unit scope text`, and the reason."""

    pattern: re.Pattern[str]
    why: str
    open: str  # what it waits for; "": left out on purpose


def rules() -> list[Rule]:
    rows = yaml.safe_load((API / "left_out.yaml").read_text())
    return [Rule(re.compile(r["match"]), r["why"], r.get("open", "")) for r in rows]


def state_of(verdict: Verdict, known: list[Rule]) -> str:
    """One of _STATES: what is not as listed may have a reason."""
    subject = f"{verdict.row.unit} {verdict.row.scope} {verdict.row.text}"
    rule = next((rule for rule in known if rule.pattern.search(subject)), None)
    if rule is None or verdict.state == "exists":
        return verdict.state
    return "open" if rule.open else "left out"


def used_by_area(used: Iterable[Used], known: list[Rule]) -> dict[str, dict[str, Counter[str]]]:
    """area -> {"names", "files"} -> state -> count; what is to come under `open`."""
    areas: dict[str, dict[str, Counter[str]]] = defaultdict(
        lambda: {"names": Counter(), "files": Counter()}
    )
    for each in used:
        state = state_of(each.verdict, known)
        area = areas["open" if state == "open" else area_of(each.verdict.row.unit)]
        area["names"][state] += 1
        area["files"][state] += each.files
    return dict(sorted(areas.items(), key=lambda item: (item[0] == "open", item[0])))


def share(count: Counter[str]) -> float:
    """Of what is due now, how much a user can import or include, in percent."""
    due = count.total() - count["open"]
    return 100 * (count["exists"] + count["differs"]) / due if due else 100.0


def render_used(title: str, used: list[Used], known: list[Rule]) -> list[str]:
    lines = [
        f"| {title} | exists | differs | missing | left out | open | here, weighted by files |",
        "|---|---|---|---|---|---|---|",
    ]
    total: dict[str, Counter[str]] = {"names": Counter(), "files": Counter()}
    for area, counts in used_by_area(used, known).items():
        for key, count in counts.items():
            total[key] += count
        if area != "open":
            lines.append(_used_line(area, counts))
    return [*lines, _used_line("**all**", total), ""]


def _used_line(area: str, counts: dict[str, Counter[str]]) -> str:
    names, files = counts["names"], counts["files"]
    return (
        f"| {area} | " + " | ".join(str(names[s]) for s in _STATES) + f" | {share(files):.1f} % |"
    )


def render_listed(
    verdicts: list[Verdict], known: list[Rule], group: Callable[[str], str]
) -> list[str]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for verdict in verdicts:
        counts[group(verdict.row.unit)][state_of(verdict, known)] += 1
    lines = ["| declarations | " + " | ".join(_STATES) + " |", "|---|---|---|---|---|---|"]
    counts["**all**"] = sum(counts.values(), Counter())
    for name, count in counts.items():
        lines.append(f"| {name} | " + " | ".join(str(count[s]) for s in _STATES) + " |")
    return [*lines, ""]


def render_open(verdicts: Iterable[Verdict], known: list[Rule]) -> list[str]:
    lines = ["## Rows that differ or are missing", ""]
    for verdict in verdicts:
        if (state := state_of(verdict, known)) in ("differs", "missing"):
            row = verdict.row
            lines.append(f"- {state}: `{row.unit}` {row.scope} `{row.text}` {verdict.note}")
    return lines


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", type=Path, help="write the report with all details to this file")
    parser.add_argument(
        "--generated",
        type=Path,
        default=_ROOT / "cmake-out/generated",
        help="generated headers of a build",
    )
    parser.add_argument(
        "--flatbuffers",
        type=Path,
        default=Path(sys.prefix) / "include",
        help="include folder of flatbuffers",
    )
    parser.add_argument(
        "--missing", action="store_true", help="list the rows that differ or are missing"
    )
    parser.add_argument("--python", action="store_true", help="leave the C++ declarations out")
    args = parser.parse_args(argv)
    include = [
        _ROOT / "src",
        args.generated,
        _ROOT / "third-party/.cache/src/pthreadpool/include",
        args.flatbuffers,
        _ROOT / "runtime/core/portable_type/c10",
    ]
    known = rules()
    names = used_names(API / "imported-names.tsv")
    headers = used_headers(API / "included-headers.tsv", include)
    listed = python_report.report(sorted(API.glob("python-*.md")))
    if not args.python:
        defines = ["C10_USING_CUSTOM_GENERATED_MACROS"]
        listed = cpp_report.report(sorted(API.glob("cpp-*.md")), include, defines) + listed
    used = render_used("imported names", names, known) + render_used(
        "included headers", headers, known
    )
    missing = render_open([each.verdict for each in (*names, *headers)] + listed, known)
    if args.write:
        per_unit = render_listed(listed, known, group=lambda unit: unit)
        args.write.parent.mkdir(parents=True, exist_ok=True)
        page = ["# Source compatibility, generated", "", *used, *per_unit, *missing]
        args.write.write_text("\n".join(page) + "\n")
    print("\n".join(used + render_listed(listed, known, group=area_of)))
    if args.missing:
        print("\n".join(missing))
    return 0


if __name__ == "__main__":
    sys.exit(main())
