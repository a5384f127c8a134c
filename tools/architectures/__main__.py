# SPDX-License-Identifier: BSD-3-Clause
"""Exports, lowers and runs architectures of `transformers`; writes JSON lines and, where asked, the page.

usage: python -m executorch.tools.architectures [name ...] [--peer PYTHON] [--transformers PYTHON] [--page FILE]

A row's result is written when it is known: after an interruption, the same command with --resume does the rest.

`transformers` and upstream's wheel are looked for in the environment of --peer (EXECUTORCH_PEER_PYTHON, else
build/peer).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from executorch.tools.architectures import page
from executorch.tools.architectures.measure import Measure
from executorch.tools.architectures.table import ARCHITECTURES, named
from executorch.tools.bench.turns import peer_python


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="all unless given; --list prints them")
    parser.add_argument("--list", action="store_true", help="print the rows and stop")
    parser.add_argument("--peer", help="the interpreter that has upstream's wheel")
    parser.add_argument("--no-peer", action="store_true", help="leave upstream's side out")
    parser.add_argument("--transformers", help="the interpreter that has transformers")
    parser.add_argument("--results", type=Path, default=Path("build/architectures.jsonl"))
    parser.add_argument(
        "--resume", action="store_true", help="leave out rows whose results are known already"
    )
    parser.add_argument("--page", type=Path, help="write the Markdown page from all results")
    parser.add_argument("--work", type=Path, help="keep the files here (temporary unless given)")
    options = parser.parse_args(argv)
    if options.list:
        print("\n".join(f"{row.name:24s}{row.kind}" for row in ARCHITECTURES))
        return 0
    peer = options.peer or peer_python()
    rows = [named(name) for name in options.names] or ARCHITECTURES
    if options.resume and options.results.exists():
        known = page.complete(page.read(options.results), upstream=not options.no_peer)
        rows = [row for row in rows if row.name not in known]
    options.results.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        measure = Measure(options.transformers or peer, None if options.no_peer else peer, work)
        for number, row in enumerate(rows, 1):
            result = measure(row)
            page.keep(options.results, result)
            print(f"[{number}/{len(rows)}] {page.summary(result)}", flush=True)
        measure.close()
    if options.page:
        options.page.write_text(page.page(page.read(options.results)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
