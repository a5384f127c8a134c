# SPDX-License-Identifier: BSD-3-Clause
"""Prints which operators a backend takes, as CSV from its table: `python -m tools.backend_operators xnnpack` (--write
FILE). The conditions are the reasons for which its rows do not take a call. `--pages` writes those that backends say
are pages of the repository (`path` in backend.py)."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Callable
from pathlib import Path

from executorch.backends.discovery import all_backends, backends
from executorch.exir.backend.lowering.manifest import BackendManifest
from executorch.exir.backend.lowering.op_table import Row

ROOT = Path(__file__).resolve().parents[1]
GUIDE = ROOT / "docs/guide"
COLUMNS = ("Operator", "Compute DType", "Quantization", "Not delegated because")
OVERVIEW = """# Backends

Written by `python -m tools.backend_operators --pages` from the `backend.py` of each folder.

`executorch export MODEL --backend NAME` gives a backend what it can run; the rest stays on the CPU's kernels. A row's
name leads to how it is used from Python and C++, and to what is missing. Which operators it takes, and when not:
`python -m tools.backend_operators NAME`. One of your own: [guide/backend_interface.md](guide/backend_interface.md).

| `--backend` | runs on | tried here with | `--quantize` | installed with |
|---|---|---|---|---|
"""
KERNELS_COLUMNS = (*COLUMNS[:3], "Not replaced because")


def paged() -> dict[str, BackendManifest]:
    """Backends with a table of operators, by name."""
    return {name: each for name, each in all_backends().items() if each.operators is not None}


def table(backend: BackendManifest) -> str:
    page = backend.operators
    quantization: Callable[[Row], str] = (
        backend.load(page.quantization) if page.quantization else lambda row: ""
    )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS if backend.id else KERNELS_COLUMNS)
    rows = backend.rows()
    for operator, row in (*rows.rows_of_patterns.items(), *rows.items()):
        reasons = "; ".join(each.reason for each in row.conditions)
        writer.writerow((operator, page.dtypes, quantization(row), reasons))
    return text.getvalue()


def overview() -> str:
    """docs/backends.md: all that users have, a row each."""
    rows = []
    for name, each in sorted(backends().items()):
        folder = each.package.removeprefix("executorch.").replace(".", "/")
        ways = ", ".join(f"`{way}`" for way in each.quantizations())
        needs = ", ".join(f"`pip install '.[{extra}]'`" for extra in each.extras)
        link = f"[{name}](../{folder}/README.md)"
        rows.append(f"| {link} | {each.runs_on} | {each.tried_with} | {ways} | {needs} |")
    return OVERVIEW + "\n".join(rows) + "\n"


def pages() -> dict[Path, str]:
    """Path and text of each that the repository has."""
    tables = {
        GUIDE / each.operators.path: table(each) for each in paged().values() if each.operators.path
    }
    return {ROOT / "docs/backends.md": overview(), **tables}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("backend", nargs="?", choices=paged(), help="whose operators")
    parser.add_argument("--write", type=Path, help="a file instead of standard output")
    parser.add_argument("--pages", action="store_true", help="write the pages of the repository")
    options = parser.parse_args(argv)
    if options.pages == (options.backend is not None):
        parser.error("expected a backend, or --pages")
    if options.pages:
        made = pages()
    else:
        text = table(paged()[options.backend])
        if options.write is None:
            sys.stdout.write(text)
            return 0
        made = {options.write: text}
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
