# SPDX-License-Identifier: BSD-3-Clause
"""Commands of pages, as printed, in an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest


@pytest.fixture
def run(tmp_path: Path):
    """Runs a block of shell lines; `executorch` and `python` are this interpreter's."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, words in (("executorch", " -m executorch"), ("python", "")):
        # No link: an interpreter finds its environment by its own path.
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable}{words} "$@"\n')
        (programs / name).chmod(0o755)
    empty = tmp_path / "empty"
    empty.mkdir()
    path = f"{programs}:{os.environ['PATH']}"

    def block(lines: str) -> str:
        start = time.perf_counter()
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", lines],
            cwd=empty,
            env=os.environ | {"PATH": path, "EXECUTORCH_CACHE_DIR": str(tmp_path / "kept")},
            capture_output=True,
            text=True,
            check=False,
        )
        print(f"{time.perf_counter() - start:.1f} s: {lines.splitlines()[0]} ...")
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout

    block.folder = empty
    return block
