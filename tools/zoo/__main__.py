# SPDX-License-Identifier: BSD-3-Clause
"""Exports the example models with each backend, runs what runs here beside PyTorch, and writes the table.

    python -m executorch.tools.zoo [name ...] [--resume] [--page docs/results/zoo.md]

Nothing is downloaded. A cell that is known is kept with --resume; a cell that takes longer than --limit is said to.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from executorch.tools import pages
from executorch.tools.measure.json_lines import append
from executorch.tools.zoo import page
from executorch.tools.zoo.models import COLUMNS, Column, names

ROOT = Path(__file__).resolve().parents[2]
REPORT = "CELL "  # cell.py's; importing it takes torch


def cells(wanted: Sequence[tuple[str, Column]], limit: float) -> Iterator[dict[str, Any]]:
    """Rows of all; a process that ends or takes too long costs one cell alone."""
    left = list(wanted)
    while left:
        words = [f"{name}:{column.backend}:{column.quantize}" for name, column in left]
        command = [sys.executable, "-m", "executorch.tools.zoo.cell", *words]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for row in _rows(process, limit):
            yield row
            left.pop(0)
        if left:
            name, column = left.pop(0)
            yield {"name": name, "column": column.name, "failed": _why(process, limit)}


def _why(process: subprocess.Popen[bytes], limit: float) -> str:
    return f"longer than {limit:.0f} s" if process.returncode == -9 else "the process ended"


def _rows(process: subprocess.Popen[bytes], limit: float) -> Iterator[dict[str, Any]]:
    """Kills the process when a line is not there in time."""
    assert process.stdout and process.stderr
    text, streams, deadline = b"", {process.stdout, process.stderr}, time.monotonic() + limit
    while streams:
        ready, _, _ = select.select(list(streams), [], [], max(0, deadline - time.monotonic()))
        if not ready:
            process.kill()
            break
        for stream in ready:
            got = os.read(stream.fileno(), 1 << 16)
            if not got:
                streams.discard(stream)
            elif stream is process.stdout:
                text += got
        *lines, text = text.split(b"\n")
        for line in lines:
            if line.startswith(REPORT.encode()):
                row = json.loads(line[len(REPORT) :])
                deadline = time.monotonic() + limit
                if len(row) > 2:  # not the line that says which column begins
                    yield row
    process.wait()


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="all unless given")
    parser.add_argument("--resume", action="store_true", help="keep cells that are known")
    parser.add_argument("--limit", type=float, default=600, help="seconds for a cell")
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "zoo.jsonl")
    parser.add_argument("--page", type=Path, help="write the Markdown page from all results")
    options = parser.parse_args(argv)
    if wrong := sorted({*options.names} - {*names()}):
        parser.error(f"expected names of {', '.join(names())}, found {', '.join(wrong)}")
    known = page.read(options.results) if options.resume else {}
    every = [(name, column) for name in options.names or names() for column in COLUMNS]
    wanted = [(name, column) for name, column in every if (name, column.name) not in known]
    started = time.monotonic()
    for number, row in enumerate(cells(wanted, options.limit), 1):
        append(options.results, row)
        seconds = time.monotonic() - started
        print(f"[{number}/{len(wanted)}, {seconds:.0f} s] {page.line(row)}", flush=True)
    if options.page:
        pages.write(options.page, page.text(page.read(options.results)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
