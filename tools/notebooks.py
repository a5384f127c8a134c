# SPDX-License-Identifier: BSD-3-Clause
"""Runs notebooks, each in a fresh interpreter and an empty folder, and keeps what their cells print.

    python -m executorch.tools.notebooks [examples/arm/vgf_minimal_example.ipynb ...]

Without names: all of examples/. What a cell prints is stored in the file; `git diff` shows what changed. Lines
that begin with % or ! are for a notebook's own program, such as `%matplotlib inline`, and left out here.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 900
LINES, COLUMNS = 40, 140  # kept of what a cell prints
# In place of SDKs that only their makers have: what goes on PYTHONPATH for notebooks in a folder of this name.
STAND_INS = {"nxp": ROOT / "backends" / "nxp" / "test" / "sdk"}


def notebooks() -> list[Path]:
    return sorted((ROOT / "examples").rglob("*.ipynb"))


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def code(cell: dict[str, Any]) -> str:
    return re.sub(r"^[%!].*$", "", source(cell), flags=re.M)


def printed(cell: dict[str, Any]) -> str:
    """What is stored of a cell's last run."""
    return "".join("".join(each.get("text", ())) for each in cell.get("outputs", ()))


def run(cells: Sequence[dict[str, Any]]) -> list[str]:
    """What each code cell prints, with the value of its last line as a notebook shows it; in this process."""
    names: dict[str, Any] = {"__name__": "__main__"}
    found = []
    for number, cell in enumerate(cells, 1):
        tree, text = ast.parse(code(cell)), io.StringIO()
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        where = f"cell {number}"
        with contextlib.redirect_stdout(text):
            exec(compile(tree, where, "exec"), names)
            value = (
                eval(compile(ast.Expression(last.value), where, "eval"), names) if last else None
            )
            if value is not None:
                print(repr(value))
        found.append(text.getvalue())
    return found


def fresh(path: Path, folder: Path) -> list[str]:
    """The same in a process of its own; RuntimeError with what it said when a cell fails."""
    paths = [str(place) for name, place in STAND_INS.items() if name in path.parent.parts]
    variables = os.environ | {"PYTHONPATH": os.pathsep.join([*paths, *sys.path])}
    done = subprocess.run(
        [sys.executable, "-m", "executorch.tools.notebooks", "--cells", str(path.resolve())],
        cwd=folder, env=variables, capture_output=True, text=True, check=False, timeout=SECONDS,
    )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(f"{path.name}: {done.stdout[-1000:]}{done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def shortened(text: str) -> str:
    text = re.sub(r'"[^"\n]*site-packages/', '"', text)
    lines = [f"{line[:COLUMNS]} ..." if len(line) > COLUMNS else line for line in text.splitlines()]
    more = [f"... {len(lines) - LINES} more lines"] if len(lines) > LINES else []
    return "".join(f"{line.rstrip()}\n" for line in lines[:LINES] + more)


def book(cells: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Of (kind, text): kind is markdown or code."""
    made = []
    for number, (kind, text) in enumerate(cells, 1):
        more = {"execution_count": None, "outputs": []} if kind == "code" else {}
        lines = text.strip("\n").splitlines(keepends=True)
        made.append(
            {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": lines} | more
        )
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def stored(found: dict[str, Any], outputs: Sequence[str]) -> str:
    """The file's text with these outputs."""
    codes = [cell for cell in found["cells"] if cell["cell_type"] == "code"]
    for number, (cell, text) in enumerate(zip(codes, outputs, strict=True), 1):
        lines = shortened(text).splitlines(keepends=True)
        stream = {"name": "stdout", "output_type": "stream", "text": lines}
        cell["outputs"] = [stream] if lines else []
        cell["execution_count"] = number
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, help="all of examples/ unless given")
    parser.add_argument("--cells", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cells:
        found = json.loads(options.cells.read_text())
        print(json.dumps(run([cell for cell in found["cells"] if cell["cell_type"] == "code"])))
        return 0
    for path in options.files or notebooks():
        found = json.loads(path.read_text())
        with tempfile.TemporaryDirectory() as folder:
            outputs = fresh(path, Path(folder))
        path.write_text(stored(found, outputs))
        print(
            f"{path}: {len(outputs)} cells ran, {sum(map(len, outputs)):,} characters kept",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
