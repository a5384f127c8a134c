# SPDX-License-Identifier: BSD-3-Clause
"""Begins a backend: `python -m tools.new_backend NAME` copies backends/skeleton to backends/NAME under that name. The
build finds the folder, and so does the conformance suite: `pytest backends/test/conformance -k NameBackend`."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

BACKENDS = Path(__file__).resolve().parents[1] / "backends"
SKELETON = "skeleton"
_SUFFIXES = {".py", ".cpp", ".h", ".fbs", ".md", ".txt"}


def camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def renamed(text: str, name: str) -> str:
    """`text` of the skeleton as it is of backend `name`, in all three spellings."""
    spellings = {
        SKELETON: name,
        SKELETON.capitalize(): camel(name),
        SKELETON.upper(): name.upper(),
    }
    return re.sub(SKELETON, lambda found: spellings[found[0]], text, flags=re.IGNORECASE)


def copy_skeleton(name: str, into: Path = BACKENDS) -> Path:
    """The new folder; ValueError for a name that is not one or is taken."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise ValueError(f"{name!r}: expected lower case words joined by _, such as my_device")
    target = into / name
    if target.exists():
        raise ValueError(f"{target} is there already: choose another name, or remove it")
    for source in sorted((BACKENDS / SKELETON).rglob("*")):
        if source.is_file() and source.suffix in _SUFFIXES:
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
