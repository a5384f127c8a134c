# SPDX-License-Identifier: BSD-3-Clause
"""What is installed runs on the oldest Python that pyproject.toml names; tests may need a newer one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from executorch.test.repository.sources import ROOT, is_test, with_suffix


def too_new(target: str, paths: list[Path]) -> str:
    """What vermin finds that needs more than the release `target`; empty for nothing."""
    options = ["--no-tips", "--violations", "--eval-annotations", f"--target={target}-"]
    done = subprocess.run(
        [sys.executable, "-c", "import vermin; vermin.main()", *options, *map(str, paths)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if done.returncode == 0 else f"{done.stdout}{done.stderr}"


def test_no_file_needs_a_newer_python() -> None:
    (oldest,) = re.findall(
        r'^requires-python = ">=([\d.]+)', (ROOT / "pyproject.toml").read_text(), re.M
    )
    shipped = [path for path in with_suffix(".py") if not is_test(path) and path.parts[0] != "test"]
    assert len(shipped) > 400
    assert not (found := too_new(oldest, shipped)), found


def test_what_is_newer_is_found(tmp_path: Path) -> None:
    for text in ("from typing import Self", "from enum import StrEnum", "import tomllib"):
        (tmp_path / "file.py").write_text(f"{text}\n")
        assert "3.11" in too_new("3.10", [tmp_path / "file.py"])
