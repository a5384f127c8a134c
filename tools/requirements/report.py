# SPDX-License-Identifier: BSD-3-Clause
"""Prints which requirement rows a test proves, which are superseded, waived with a reason, or open.

usage: python -m tools.requirements.report [--area RT] [--open] [--check]
e.g.   python -m tools.requirements.report --area RT --open
"""

import argparse
import sys
from collections import Counter, defaultdict
from pathlib import Path

from executorch.tools.requirements.rows import read_rulings, read_tables, test_marks

_ROOT = Path(__file__).resolve().parents[2]
_STATES = ("proven", "superseded", "waived", "open")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--area", default="", help="only rows whose id starts so, such as RT or EXT"
    )
    parser.add_argument("--open", action="store_true", help="list the open rows")
    parser.add_argument(
        "--proven", action="store_true", help="list the proven rows with their tests"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="fail when a test or a ruling names a row that does not exist",
    )
    args = parser.parse_args(argv)
    folder = _ROOT / "docs/requirements"
    rows = read_tables(folder)
    marks = test_marks(_ROOT)
    superseded, waived = (
        read_rulings(folder / "superseded.yaml"),
        read_rulings(folder / "waivers.yaml"),
    )
    unknown = sorted(({*marks, *superseded, *waived}) - {row.id for row in rows})
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        if not row.id.startswith(args.area):
            continue
        state = (
            "superseded"
            if row.id in superseded
            else "proven"
            if row.id in marks
            else "waived"
            if row.id in waived
            else "open"
        )
        counts[row.area][state] += 1
        if state == "open" and args.open:
            print(f"open    {row.id}  {row.text[:120]}")
        if state == "proven" and args.proven:
            print(f"proven  {row.id}  {', '.join(marks[row.id])}")
    print(f"{'area':36s}" + "".join(f"{state:>12s}" for state in _STATES))
    for area, count in counts.items():
        print(f"{area:36s}" + "".join(f"{count[state]:12d}" for state in _STATES))
    total = sum(counts.values(), Counter())
    print(f"{'all':36s}" + "".join(f"{total[state]:12d}" for state in _STATES))
    for row_id in unknown:
        print(
            f"unknown row {row_id}: named in {', '.join(marks.get(row_id, ['a ruling']))}",
            file=sys.stderr,
        )
    return 1 if args.check and unknown else 0


if __name__ == "__main__":
    sys.exit(main())
