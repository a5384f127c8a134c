# SPDX-License-Identifier: BSD-3-Clause
"""Networks with trained weights in float and int8, on XNNPACK and on kernels, beside eager PyTorch and upstream.

usage: python -m executorch.tools.accuracy [name ...] [--peer PYTHON | --no-peer] [--page build/pages/accuracy.md]
       python -m executorch.tools.accuracy [name ...] --recipes BACKEND ... [--page build/pages/accuracy.md]

Weights and inputs come from packages (scripts/requirements-accuracy.txt), installed once in build/accuracy.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from executorch.tools import pages
from executorch.tools.accuracy import page
from executorch.tools.accuracy.measure import Prepared
from executorch.tools.accuracy.networks import NETWORKS, Network, named
from executorch.tools.accuracy.packages import ROOT, folder
from executorch.tools.measure.json_lines import append
from executorch.tools.measure.processes import peer_python


def measured(
    network: Network, packages: Path, peer: str | None, recipes: Sequence[str] = ()
) -> dict[str, Any]:
    """All that a row of the page says; `recipes`: of these backends alone."""
    with tempfile.TemporaryDirectory() as work:
        prepared = Prepared(network, packages, Path(work))
        row: dict[str, Any] = {"name": network.name, "parameters": prepared.parameters}
        for backend in recipes:
            row |= prepared.ask_recipes(backend)
        if recipes:
            return row
        row |= prepared.ask(sys.executable, ["xnnpack", "kernels"])
        if peer:
            theirs = prepared.ask(peer, ["xnnpack"])
            row |= {f"upstream {precision}": found for precision, found in theirs.items()}
        return row


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="all unless given")
    parser.add_argument(
        "--recipes", nargs="*", default=[], metavar="BACKEND", help="each recipe of these, only"
    )
    parser.add_argument("--peer", help="the interpreter that has upstream's wheel")
    parser.add_argument("--no-peer", action="store_true", help="leave upstream out")
    parser.add_argument("--packages", type=Path, help="where the packages are, or go")
    parser.add_argument("--page", type=Path, help="write the Markdown page from all results")
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "accuracy.jsonl")
    options = parser.parse_args(argv)
    without = options.no_peer or options.recipes
    peer = None if without else options.peer or peer_python()
    packages = folder(options.packages)
    below = 0
    for network in [named(name) for name in options.names] or NETWORKS:
        row = measured(network, packages, peer, options.recipes)
        append(options.results, row)
        if options.recipes:
            print(json.dumps(row), flush=True)
            continue
        print(page.line(row), flush=True)
        for problem in page.problems(row, network.floor):
            below += 1
            print(f"  {problem}", flush=True)
    if options.page:
        pages.write(options.page, page.text(page.read(options.results)))
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
