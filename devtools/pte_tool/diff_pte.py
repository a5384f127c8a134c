# SPDX-License-Identifier: BSD-3-Clause
"""Two program files held against each other; `python -m executorch.devtools diff` is the same with other output.

python -m executorch.devtools.pte_tool.diff_pte before.pte after.pte --verbose
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from executorch.devtools.commands.diff import differences
from executorch.devtools.commands.output.report import Report
from executorch.devtools.commands.program_file import ProgramFile


@dataclass(frozen=True)
class PTEDiffResult:
    """`report`: what differs, in tables; None when the files are equal or one cannot be read, which `error` says."""

    path_a: str
    path_b: str
    size_a: int
    size_b: int
    bitwise_equal: bool
    max_samples: int
    report: Report | None = None
    error: str | None = None


def diff_pte(
    data_a: bytes, data_b: bytes, path_a: str = "A", path_b: str = "B", max_samples: int = 10
) -> PTEDiffResult:
    """`path_a` and `path_b`: names for the report; `max_samples`: rows that it shows of each table."""
    equal = data_a == data_b
    report, error = None, None
    if not equal:
        try:
            report = differences(
                ProgramFile(Path(path_a), data_a), ProgramFile(Path(path_b), data_b)
            )
        except ValueError as problem:
            error = str(problem)
    return PTEDiffResult(
        path_a, path_b, len(data_a), len(data_b), equal, max_samples, report, error
    )


def format_diff_result(result: PTEDiffResult, verbose: bool = False) -> str:
    """As text; with `verbose` what differs, too."""
    status = "bitwise equal" if result.bitwise_equal else "NOT bitwise equal"
    lines = [
        f"Comparing: {result.path_a} ({result.size_a:,} bytes) vs {result.path_b} ({result.size_b:,} bytes)",
        f"Status: {status}",
    ]
    if result.error is not None:
        lines.append(f"Error: {result.error}")
    if verbose and result.report is not None:
        lines.append(result.report.as_text(result.max_samples))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """0 for equal files, 1 for others, 2 for files that cannot be read."""
    parser = argparse.ArgumentParser(description="Holds two program files against each other.")
    parser.add_argument("file_a", type=Path)
    parser.add_argument("file_b", type=Path)
    parser.add_argument("-v", "--verbose", action="store_true", help="shows what differs")
    parser.add_argument("--max-samples", type=int, default=10, help="rows shown of each table")
    options = parser.parse_args(arguments)
    try:
        data = [path.read_bytes() for path in (options.file_a, options.file_b)]
    except OSError as problem:
        print(problem, file=sys.stderr)
        return 2
    result = diff_pte(*data, str(options.file_a), str(options.file_b), options.max_samples)
    print(format_diff_result(result, options.verbose))
    if result.error is not None:
        return 2
    return 0 if result.bitwise_equal else 1


if __name__ == "__main__":
    sys.exit(main())
