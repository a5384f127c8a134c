# SPDX-License-Identifier: BSD-3-Clause
"""Begins a backend: `python -m tools.new_backend NAME` copies backends/skeleton to backends/NAME under that name. The
build finds the folder, and so does the conformance suite: `pytest backends/test/conformance -k NameBackend`. A backend
outside of this tree begins with `executorch new-backend NAME`, which reads the same folder."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from executorch.cli.projects import SKELETON, SUFFIXES, check_name, renamed

BACKENDS = Path(__file__).resolve().parents[1] / "backends"


def copy_skeleton(name: str, into: Path = BACKENDS) -> Path:
    """The new folder; ValueError for a name that is not one or is taken."""
    check_name(name)
    target = into / name
    if target.exists():
        raise ValueError(f"{target} is there already: choose another name, or remove it")
    for source in sorted((BACKENDS / SKELETON).rglob("*")):
        if source.is_file() and source.suffix in SUFFIXES:
            place = target / renamed(str(source.relative_to(BACKENDS / SKELETON)), name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(renamed(source.read_text(), name))
    return target


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="of the folder: lower case words joined by _")
    parser.add_argument("--into", type=Path, default=BACKENDS, help="the folder of backends")
    options = parser.parse_args(argv)
    try:
        target = copy_skeleton(options.name, options.into)
    except ValueError as error:
        parser.error(str(error))
    print(f"{target}: give it a file_identifier of its own in schema/, then rows in aot/ops.py")
    return 0


if __name__ == "__main__":
    sys.exit(main())
