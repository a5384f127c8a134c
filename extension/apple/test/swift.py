# SPDX-License-Identifier: BSD-3-Clause
"""Swift on this system: a root that extension/apple/scripts/swift_root.sh makes, named by EXECUTORCH_SWIFT_ROOT."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from executorch.test.e2e.build_tree import build_folder, loadable
from executorch.test.repository.sources import ROOT

SWIFT = os.environ.get("EXECUTORCH_SWIFT_ROOT", "")
SCRIPT = ROOT / "extension" / "apple" / "scripts" / "swift_root.sh"
NEEDS_SWIFT = pytest.mark.skipif(not SWIFT, reason="needs EXECUTORCH_SWIFT_ROOT, of swift_root.sh")


def in_root(folder: Path, commands: str) -> str:
    """What the commands print, run in `folder`; they must not fail."""
    folders = f"{ROOT}:{build_folder()}:{loadable('executorch_c').parent}:{folder}"
    words = ["timeout", "600", "sh", "-ec", f"cd {folder} && {commands}"]
    done = subprocess.run(
        [SCRIPT, SWIFT, "--run", folders, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:]
    return done.stdout + done.stderr
