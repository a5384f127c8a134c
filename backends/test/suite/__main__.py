# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of each row of the corpus on each flow.

usage: python -m executorch.backends.test.suite [--flow xnnpack ...] [--order reversed] [part of a row's name ...]

whole, in part, kernels: the results are right, and who computed them. refused: exporting raises an error that says what
to do. torch: torch.export itself refuses. Never: wrong, other values than eager's; failed, anything else.
"""

from __future__ import annotations

import argparse
import sys

from executorch.backends.test.corpus import rows
from executorch.backends.test.corpus.row import ORDERS, Row
from executorch.backends.test.suite import rows as through
from executorch.backends.test.suite.flow import TestFlow, all_flows
from executorch.backends.test.suite.reporting import TestCaseSummary


def main() -> int:
    flows = all_flows()
    parser = argparse.ArgumentParser(
        prog="python -m executorch.backends.test.suite",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", help="only rows whose names contain one of these")
    parser.add_argument("-l", "--flow", action="append", choices=list(flows), metavar="FLOW")
    parser.add_argument("--order", choices=ORDERS, default="plain", help="of inputs, in memory")
    options = parser.parse_args()
    wanted = [flows[name] for name in options.flow or flows]
    found: list[tuple[str, Row, TestCaseSummary]] = []
    is_right = True
    for flow in wanted:
        for row in chosen(options.names):
            summary = through.run_row(row.in_order(options.order), flow)
            found.append((flow.name, row, summary))
            is_right &= _say(flow, row, summary, bool(options.names))
    print(through.table(found))
    return 0 if is_right else 1


def chosen(names: list[str]) -> list[Row]:
    return [row for row in rows() if not names or any(name in row.id for name in names)]


def _say(flow: TestFlow, row: Row, summary: TestCaseSummary, everything: bool) -> bool:
    """Prints what is no success; whether the outcome is one that the row allows."""
    kind = through.kind_of(summary)
    problem = through.problem_of(row, summary)
    if everything or kind not in through.ACCEPTED:
        text = " ".join(str(summary.error or "").split())
        shown = text if everything or problem else text[:120]
        print(f"{flow.name:10} {kind:8} {row.id:50} {shown}", flush=True)
    return not problem


if __name__ == "__main__":
    sys.exit(main())
