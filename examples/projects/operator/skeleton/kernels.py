# SPDX-License-Identifier: BSD-3-Clause
"""Loads the kernels. Starts without PyTorch, for programs that only run."""

import sys
from pathlib import Path

_SUFFIX = {"darwin": "dylib", "win32": "dll"}.get(sys.platform, "so")
LIBRARY = Path(__file__).with_name(f"libskeleton_kernels.{_SUFFIX}")


def load() -> None:
    """Registers the kernels with the Python runtime; an installed package does it by itself."""
    from executorch.extension.pybindings import libraries

    if not LIBRARY.exists():
        raise FileNotFoundError(
            f"{LIBRARY} is not built: run `cmake -B build && cmake --build build` in the project's folder"
        )
    libraries.load(LIBRARY)
