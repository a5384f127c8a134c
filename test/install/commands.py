# SPDX-License-Identifier: BSD-3-Clause
"""Programs that the tests of this folder run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from executorch.test.e2e.build_tree import ROOT


def attempt(
    *words: object, cwd: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    """The finished process with its text; the caller looks at the exit code."""
    return subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        errors="backslashreplace",  # tokens of a random model are no text
        check=False,
    )


def command(*words: object, cwd: Path = ROOT, **environment: str) -> str:
    """What it printed; a failure shows the end of both streams."""
    done = attempt(*words, cwd=cwd, **environment)
    assert done.returncode == 0, (
        f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout[-6000:]}{done.stderr[-4000:]}"
    )
    return done.stdout


def beside(name: str) -> Path:
    """A build folder that stays, so that only changes are compiled, and as deep as cmake-out, so that ccache knows its
    files."""
    return ROOT / f"cmake-out-{name}"
