# SPDX-License-Identifier: BSD-3-Clause
"""Where the C++ programs under test are: EXECUTORCH_BUILD_DIR, else cmake-out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from executorch.backends.test.built import build_folder

ROOT = Path(__file__).resolve().parents[2]


def binary(name: str) -> Path:
    path = build_folder() / name
    if not path.exists():
        raise FileNotFoundError(
            f"{path} is not built: run `make build`, or set EXECUTORCH_BUILD_DIR"
        )
    return path


def loadable(library: str) -> Path:
    """The file of a library that is LOADABLE (tools/cmake)."""
    suffix = {"darwin": "dylib", "win32": "dll"}.get(sys.platform, "so")
    return binary(f"lib{library}.{suffix}")


def load_backend(library: str) -> None:
    """Registers the backends of a library that is LOADABLE with the Python runtime."""
    from executorch.extension.pybindings import libraries

    libraries.load(loadable(library))


def load_demo_backends() -> None:
    """The backends of the documents' examples."""
    load_backend("demo_backend")


def run(
    *command: object, timeout: float = 300, **environment: str
) -> subprocess.CompletedProcess[str]:
    """The finished process with its text; the caller looks at the exit code. `environment` is added to this one's."""
    words = [str(word) for word in command]
    return subprocess.run(
        words, capture_output=True, text=True, timeout=timeout, check=False,
        env=os.environ | environment,
    )  # fmt: skip
