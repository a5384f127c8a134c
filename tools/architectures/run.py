# SPDX-License-Identifier: BSD-3-Clause
"""The rows that a command line names, measured one after the other. A result is written when it is known: after an
interruption, the same command with --resume does the rest."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from executorch.tools import pages
from executorch.tools.architectures import page
from executorch.tools.architectures.measure import Measure
from executorch.tools.architectures.table import ARCHITECTURES, named
from executorch.tools.measure.json_lines import append
from executorch.tools.measure.processes import peer_python


def add_arguments(parser: argparse.ArgumentParser, results: Path) -> None:
    parser.add_argument("names", nargs="*", help="all unless given")
    parser.add_argument("--peer", help="the interpreter that has upstream's wheel")
    parser.add_argument("--no-peer", action="store_true", help="leave upstream's engine out")
    parser.add_argument("--transformers", help="the interpreter that has transformers")
    parser.add_argument("--results", type=Path, default=results)
    parser.add_argument(
        "--resume", action="store_true", help="leave out rows whose results are known already"
    )
    parser.add_argument("--page", type=Path, help="write the Markdown page from all results")
    parser.add_argument("--work", type=Path, help="keep the files here (temporary unless given)")


def run(
    options: argparse.Namespace,
    lowering: str,
    summary: Callable[[page.Result], str],
    text: Callable[[list[page.Result]], str],
) -> None:
    """Prints a summary a row; `text` makes the page. `lowering` is Measure's."""
    peer = options.peer or peer_python()
    rows: Sequence[Any] = [named(name) for name in options.names] or ARCHITECTURES
    if options.resume and options.results.exists():
        known = page.complete(page.read(options.results), upstream=not options.no_peer)
        rows = [row for row in rows if row.name not in known]
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        upstream = None if options.no_peer else peer
        measure = Measure(options.transformers or peer, upstream, work, lowering)
        for number, row in enumerate(rows, 1):
            result = measure(row)
            append(options.results, result)
            print(f"[{number}/{len(rows)}] {summary(result)}", flush=True)
        measure.close()
    if options.page:
        pages.write(options.page, text(page.read(options.results)))
