# SPDX-License-Identifier: BSD-3-Clause
"""Operators of the default kernel library beside eager PyTorch, at one thread and at all: `make bench`.

Every row is one operator on one shape; its last column is our time over eager's. A row of 16,384 elements or more
above the limit makes the command fail, as does a wrong result; such rows are printed once more, worst first, after
all others. Examples:

    python -m tools.bench.ops --only softmax
    python -m tools.bench.ops --dtypes --threads 2      every row in every dtype that eager takes it in
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import torch

from executorch.codegen.schema import Schema
from executorch.tools import pages
from kernels.test.kernel_call import load_library, load_schemas
from tools.bench.ops import cases
from tools.bench.ops.case import MIDDLE, Case
from tools.bench.ops.dtypes import in_dtype, other_dtypes
from tools.bench.ops.measure import Row, eager_takes, measure
from tools.bench.ops.page import geometric_mean, page

_ROOT = Path(__file__).resolve().parents[3]


def _qualified(op: str) -> str:
    return op if "::" in op else f"aten::{op}"


# In other dtypes eager is slow in places; its longest calls are left out of the run through all of them.
_LONGEST_SECONDS = 0.1


def _worker(threads: int, wanted: str, dtypes: bool) -> None:
    """Measures in this process and prints one line of JSON a row."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    torch.set_num_threads(threads)
    library, schemas = load_library("optimized"), load_schemas("optimized")
    with torch.no_grad():
        for case in cases():
            schema = schemas[_qualified(case.op)]
            for one in _rows(case, schema, wanted, dtypes):
                print(json.dumps(asdict(measure(library, schema, one))), flush=True)


def _rows(case: Case, schema: Schema, wanted: str, dtypes: bool) -> Iterator[Case]:
    """The row, and the same in the other dtypes, where they match."""
    if re.search(wanted, f"{case.op} {case.label}"):
        yield case
    for label, dtype in other_dtypes(case).items() if dtypes else ():
        if re.search(wanted, f"{case.op} {label}"):
            one = in_dtype(case, schema, label, dtype)
            if eager_takes(schema, one, _LONGEST_SECONDS):
                yield one


def _run(threads: int, wanted: str, limit: float, dtypes: bool) -> list[Row]:
    """The rows of a worker, printed as they come."""
    command = [sys.executable, "-m", "tools.bench.ops", "--worker", str(threads), "--only", wanted]
    command += ["--dtypes"] if dtypes else []
    plural = "s" if threads > 1 else ""
    print(f"\n{threads} thread{plural}: microseconds of eager, of ours, ours / eager", flush=True)
    rows = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=_ROOT) as worker:
        assert worker.stdout
        for line in worker.stdout:
            if line.startswith("{"):
                rows.append(Row(**json.loads(line)))
                _print(rows[-1], limit)
    if worker.returncode != 0:
        sys.exit(f"the worker ended with {worker.returncode} after the last row above")
    return rows


def _is_bad(row: Row, limit: float) -> bool:
    return bool(row.problem) or (row.elements >= MIDDLE and row.ratio > limit)


def _print(row: Row, limit: float) -> None:
    name = f"{row.op:42}{row.label:34}"
    if row.problem:
        print(f"{name}{row.problem:>10}", flush=True)
        return
    mark = "  <<<" if _is_bad(row, limit) else ""
    times = f"{row.eager * 1e6:10.1f}{row.ours * 1e6:10.1f}{row.ratio:8.2f}"
    print(f"{name}{times}{mark}", flush=True)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.bench.ops",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", default="", help="only rows whose name matches this expression")
    parser.add_argument("--dtypes", action="store_true", help="every row in every usual dtype")
    parser.add_argument("--limit", type=float, default=2.0, help="largest ratio (default 2)")
    parser.add_argument(
        "--threads", type=int, nargs="*", help="thread counts (default: 1 and all processors)"
    )
    parser.add_argument("--write", type=Path, metavar="PAGE", help="Markdown page to write")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        _worker(options.worker, options.only, options.dtypes)
        return 0
    counts = options.threads or sorted({1, _processors()})
    tables = {n: _run(n, options.only, options.limit, options.dtypes) for n in counts}
    rows = [row for table in tables.values() for row in table]
    bad = [row for row in rows if _is_bad(row, options.limit)]
    if options.write:
        pages.write(options.write, page(tables, options.limit))
    print("\nWrong, or above the limit, worst first:" if bad else "")
    for row in sorted(bad, key=lambda r: -math.inf if r.problem else -r.ratio):
        _print(row, options.limit)
    print(f"\n{len(rows)} rows, geometric mean of ours / eager {geometric_mean(rows):.2f}")
    print(f"{len(bad)} rows wrong, or above {options.limit} at {MIDDLE:,} elements or more")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
