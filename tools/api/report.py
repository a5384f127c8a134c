# SPDX-License-Identifier: BSD-3-Clause
"""Prints which listed public names and signatures exist here, per header and module.

usage: python -m tools.api.report [--write build/api.md] [--generated cmake-out/generated] [--missing]
e.g.   python -m tools.api.report --missing | less
"""

import argparse
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import yaml

from executorch.tools.api import cpp_report, python_report
from executorch.tools.api.verdict import Verdict

_ROOT = Path(__file__).resolve().parents[2]
_STATES = ("exists", "differs", "missing")


def left_out(path: Path) -> list[tuple[re.Pattern[str], str]]:
    """Rows of docs/api/left_out.yaml: a pattern over `unit scope text`, and the reason."""
    return [
        (re.compile(entry["match"]), entry["why"]) for entry in yaml.safe_load(path.read_text())
    ]


def _reason(verdict: Verdict, rules: list[tuple[re.Pattern[str], str]]) -> str:
    subject = f"{verdict.row.unit} {verdict.row.scope} {verdict.row.text}"
    return next((why for pattern, why in rules if pattern.search(subject)), "")


def render(verdicts: list[Verdict], rules: list[tuple[re.Pattern[str], str]], details: bool) -> str:
    units: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        units[verdict.row.unit].append(verdict)
    lines = [
        "| header or module | exists | signature differs | missing | left out on purpose |",
        "|---|---|---|---|---|",
    ]
    total: Counter[str] = Counter()
    open_rows: list[str] = []
    for unit, found in units.items():
        count: Counter[str] = Counter()
        for verdict in found:
            state = verdict.state
            if state != "exists" and _reason(verdict, rules):
                state = "left out"
            elif state != "exists":
                open_rows.append(
                    f"- {state}: `{unit}` {verdict.row.scope} `{verdict.row.text}` {verdict.note}"
                )
            count[state] += 1
        total += count
        lines.append(
            f"| {unit} | " + " | ".join(str(count[s]) for s in (*_STATES, "left out")) + " |"
        )
    lines.append("| **all** | " + " | ".join(str(total[s]) for s in (*_STATES, "left out")) + " |")
    return "\n".join(
        lines + (["", "## Rows that differ or are missing", "", *open_rows] if details else [])
    )


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
    args = parser.parse_args(argv)
    api = _ROOT / "docs/api"
    include = [
        _ROOT / "src",
        args.generated,
        _ROOT / "third-party/.cache/src/pthreadpool/include",
        args.flatbuffers,
        _ROOT / "runtime/core/portable_type/c10",
    ]
    rules = left_out(api / "left_out.yaml")
    cpp = cpp_report.report(
        sorted(api.glob("cpp-*.md")), include, ["C10_USING_CUSTOM_GENERATED_MACROS"]
    )
    python = python_report.report(sorted(api.glob("python-*.md")))
    if args.write:
        args.write.parent.mkdir(parents=True, exist_ok=True)
        args.write.write_text(
            "# Source compatibility, generated\n\n"
            + render(cpp + python, rules, details=True)
            + "\n"
        )
    print(render(cpp + python, rules, details=args.missing))
    return 0


if __name__ == "__main__":
    sys.exit(main())
