# SPDX-License-Identifier: BSD-3-Clause
"""The clients: public packages that use ExecuTorch and nothing of this repository, each with an environment of its own.

An environment holds the client, its own dependencies and our wheel, stands under build/clients, and is made again
when the wheel or the requirements change. Programs run in an empty directory, offline, with nothing of the checkout
on the path.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from executorch.test.repository.sources import ROOT

WHEEL = os.environ.get("EXECUTORCH_WHEEL", "")
needs_wheel = pytest.mark.skipif(not WHEEL, reason="this run takes the packages of the tree")
PROGRAMS = Path(__file__).resolve().parent / "programs"
_OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "YOLO_OFFLINE": "True",
    "YOLO_AUTOINSTALL": "False",
    "PYTHONDONTWRITEBYTECODE": "1",
}


@dataclass(frozen=True)
class Environment:
    """`requirements` are installed in this order, one pip call each; `python` where the client asks for a version."""

    name: str
    requirements: tuple[str, ...]
    python: str = "python3.11"
    with_wheel: bool = True

    def interpreter(self) -> Path:
        """Makes the environment if it is not there; skips where its interpreter is not installed."""
        home = ROOT / "build" / "clients" / self.name
        python = home / "bin" / "python"
        stamp = home / ".complete"
        wheels = (WHEEL,) if self.with_wheel else ()
        content = b"".join(Path(wheel).read_bytes() for wheel in wheels)
        wanted = hashlib.sha256(repr(self).encode() + content).hexdigest()
        if stamp.exists() and stamp.read_text() == wanted:
            return python
        _call([_find(self.python), "-m", "venv", "--clear", str(home)])
        for line in self.requirements + wheels:
            _call([str(python), "-m", "pip", "install", "-q", *line.split()])
        stamp.write_text(wanted)
        return python


def _find(python: str) -> str:
    """A working interpreter of that name, on the PATH or among pyenv's; skips where there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    version = python.removeprefix("python")
    for candidate in (python, *map(str, pyenv.glob(f"versions/{version}.*/bin/python"))):
        # a name on the PATH may be a shim of pyenv for a version that is not chosen here
        if (
            shutil.which(candidate)
            and not subprocess.run(
                [candidate, "-c", ""], capture_output=True, check=False
            ).returncode
        ):
            return candidate
    pytest.skip(f"{python} is not installed here")


def run(python: Path, program: str, folder: Path, *arguments: object) -> dict[str, Any]:
    """What a program of programs/ prints in its last line, as JSON; it runs in `folder`."""
    # its own folder is all that a script has on its path
    script = shutil.copy(PROGRAMS / program, folder)
    words = [str(word) for word in (python, script, *arguments)]
    return json.loads(_call(words, folder).splitlines()[-1])


def _call(words: Sequence[str], folder: Path | None = None) -> str:
    hidden = ("PYTHONPATH", "VIRTUAL_ENV")
    variables = {k: v for k, v in os.environ.items() if k not in hidden} | _OFFLINE
    if folder is not None:
        variables["YOLO_CONFIG_DIR"] = str(folder / "settings")
    done = subprocess.run(
        words, cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout
