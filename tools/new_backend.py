# SPDX-License-Identifier: BSD-3-Clause
"""Begins a backend: `python -m tools.new_backend NAME` copies backends/skeleton, a delegate, to backends/NAME under
that name; with --kind compiler backends/skeleton_compiler, a vendor's compiler and library; with --kind kernels
backends/skeleton_kernels, operators of one's own with their kernels. No other file changes: the build, commands, tests
and pages find the folder (docs/design/007-backend-folder.md). A backend outside of this tree begins with
`executorch new-backend NAME`, which reads the first two folders, too."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from executorch.cli.projects import KINDS, SKELETON, SUFFIXES, check_name, renamed

BACKENDS = Path(__file__).resolve().parents[1] / "backends"
SKELETONS = {**KINDS, "kernels": f"{SKELETON}_kernels"}


def copy_skeleton(name: str, into: Path = BACKENDS, skeleton: str = SKELETON) -> Path:
    """The new folder; ValueError for a name that is not one or is taken."""
    check_name(name)
    target, source = into / name, BACKENDS / skeleton
    if target.exists():
        raise ValueError(f"{target} is there already: choose another name, or remove it")
    for file in sorted(source.rglob("*")):
        if file.is_file() and file.suffix in SUFFIXES and "__pycache__" not in file.parts:
            place = target / renamed(str(file.relative_to(source)), name, skeleton)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(renamed(file.read_text(), name, skeleton))
    return target


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="of the folder: lower case words joined by _")
    parser.add_argument(
        "--kind", choices=SKELETONS, default="delegate", help="what it is; default: delegate"
    )
    parser.add_argument("--into", type=Path, default=BACKENDS, help="the folder of backends")
    options = parser.parse_args(argv)
    try:
        target = copy_skeleton(options.name, options.into, SKELETONS[options.kind])
    except ValueError as error:
        parser.error(str(error))
    print(f"{target}: its README.md says what to change, in which order")
    return 0


if __name__ == "__main__":
    sys.exit(main())
