# SPDX-License-Identifier: BSD-3-Clause
"""Shared libraries that register kernels and backends with the Python runtime: one by its path, and those of packages
that are installed.

A package names, in the entry-point group `executorch.runtime`, a function that loads its library:

    [project.entry-points."executorch.runtime"]
    my_device = "my_device:load"

It is called when the runtime is first imported, so what it imports should be light. EXECUTORCH_PLUGINS=0 leaves all
packages out.
"""

from __future__ import annotations

import ctypes
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "executorch.runtime"

# Libraries that a backend opens when it is first used: the variable that names one, and where a package has it.
VENDORS = {
    "OPENVINO_LIB_PATH": "openvino/libs/libopenvino_c.*",
}


def named(group: str) -> list[EntryPoint]:
    """What installed packages name in an entry-point group. Most programs have no such package, and importing
    importlib.metadata to learn that takes longer than all the rest: its files are read first."""
    if not any(f"[{group}]".encode() in file.read_bytes() for file in _entry_point_files()):
        return []
    from importlib.metadata import entry_points

    return list(entry_points(group=group))


def _entry_point_files() -> Iterator[Path]:
    for folder in dict.fromkeys(sys.path):
        try:
            packages = [each.path for each in os.scandir(folder or ".")]
        except OSError:  # no folder: an archive, or gone
            continue
        for package in packages:
            if package.endswith((".dist-info", ".egg-info")):
                file = Path(package, "entry_points.txt")
                if os.access(file, os.R_OK):
                    yield file


def load(path: str | os.PathLike[str]) -> None:
    """Registers what is in the library at `path`, which links `_portable_lib` of the CMake package; again without
    effect. Raises OSError with what is missing."""
    from executorch.extension.pybindings import _portable_lib  # noqa: F401  what the library links

    if not Path(path).exists():
        raise FileNotFoundError(
            f"{path} is not built: expected a shared library that links _portable_lib of executorch's CMake package"
        )
    ctypes.CDLL(str(Path(path).resolve()))


def load_installed() -> None:
    """Those of packages; one that cannot be loaded is a warning, and programs that need it say what they lack."""
    if os.environ.get("EXECUTORCH_PLUGINS") == "0":
        return
    for point in named(GROUP):
        try:
            point.load()()
        except Exception as error:
            warnings.warn(
                f"the package of {point.value} registers nothing with the runtime: {error}",
                RuntimeWarning,
                stacklevel=2,
            )


def name_vendors() -> None:
    """Sets variables that are not set to what installed packages have."""
    for variable, pattern in VENDORS.items():
        if variable not in os.environ:
            found = (
                file for folder in sys.path for file in sorted(Path(folder or ".").glob(pattern))
            )
            file = next(found, None)
            if file is not None:
                os.environ[variable] = str(file.resolve())
