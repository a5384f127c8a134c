# SPDX-License-Identifier: BSD-3-Clause
"""The interpreter that has the rivals: an environment of its own, which finds this one's PyTorch behind its own
packages."""

from __future__ import annotations

import site
import subprocess
import sys
from pathlib import Path

from executorch.tools.accuracy.packages import ROOT

REQUIREMENTS = ROOT / "scripts" / "requirements-rivals.txt"


def rivals_python(where: Path | None = None) -> str:
    """Made once; CalledProcessError where no package index can be reached."""
    where = where or ROOT / "build" / "rivals"
    done, wanted = where / "installed.txt", REQUIREMENTS.read_text()
    python = where / "bin" / "python"
    if not done.exists() or done.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(where)], check=True)
        pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, "-r", str(REQUIREMENTS)], check=True)
        (packages,) = (where / "lib").glob("python*/site-packages")
        (packages / "parent.pth").write_text("\n".join(site.getsitepackages()) + "\n")
        done.write_text(wanted)
    return str(python)
