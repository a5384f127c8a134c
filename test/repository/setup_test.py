# SPDX-License-Identifier: BSD-3-Clause
"""Which system packages scripts/setup.sh installs, with programs instead of Debian's that write down their calls."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from executorch.test.repository.sources import ROOT

OPTIONAL = "chromium-headless-shell"
STANDINS = {
    "apt-get": 'echo "$*" >>"$CALLS"; case "$*" in *chromium*) exit "$CHROMIUM" ;; esac',
    # the last argument is the package
    "dpkg-query": 'for last; do :; done; case " $MISSING " in *" $last "*) exit 1 ;; esac; echo "install ok installed"',
    "apt-cache": 'echo "  Candidate: $CANDIDATE"',
    "id": "echo 0",
}  # fmt: skip


def set_up(folder: Path, missing: str, candidate: str = "156.0", chromium: int = 0) -> list[str]:
    """What apt-get was asked for. The script ends at the interpreter, which is none."""
    for name, body in STANDINS.items():
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHON": "/bin/false",
        "VENV": str(folder / "no-venv"),
        "CALLS": str(folder / "calls"),
        "MISSING": missing,
        "CANDIDATE": candidate,
        "CHROMIUM": str(chromium),
        "EXECUTORCH_SKIP_APT": "0",
    }
    script = ["bash", str(ROOT / "scripts/setup.sh")]
    done = subprocess.run(script, env=environment, capture_output=True, text=True)
    assert "no Python 3.10 to 3.13 found" in done.stderr, done.stderr
    calls = folder / "calls"
    return calls.read_text().splitlines() if calls.exists() else []


INSTALL = "install -y --no-install-recommends"


@pytest.mark.parametrize(
    ("missing", "options", "calls"),
    [
        ("", {}, []),
        ("g++", {}, ["update", f"{INSTALL} g++"]),
        (OPTIONAL, {}, ["update", f"{INSTALL} {OPTIONAL}"]),
        (OPTIONAL, {"candidate": "(none)"}, ["update"]),
        (OPTIONAL, {"chromium": 100}, ["update", f"{INSTALL} {OPTIONAL}"]),
        (
            f"g++ {OPTIONAL}",
            {"chromium": 100},
            ["update", f"{INSTALL} g++", f"{INSTALL} {OPTIONAL}"],
        ),
    ],
)
def test_packages_that_only_tests_want_are_no_condition(
    missing: str, options: dict, calls: list[str], tmp_path: Path
) -> None:
    assert set_up(tmp_path, missing, **options) == calls
