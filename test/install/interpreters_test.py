# SPDX-License-Identifier: BSD-3-Clause
"""The Python releases that the package admits, besides the one that runs the tests: a wheel, and a model on it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from executorch.test.install.new_user import LOWER, command, environment_with
from executorch.test.repository.sources import ROOT

OWN = f"{sys.version_info.major}.{sys.version_info.minor}"


def interpreter(release: str) -> Path | None:
    """On the path, or one of pyenv's."""
    found = [
        shutil.which(f"python{release}"),
        *Path.home().glob(f".pyenv/versions/{release}.*/bin/python"),
    ]
    for candidate in filter(None, found):
        done = subprocess.run([candidate, "--version"], capture_output=True, text=True, check=False)
        if done.stdout.startswith(f"Python {release}."):
            return Path(candidate)
    return None


@pytest.mark.full
@pytest.mark.req("CMP-012")
@pytest.mark.parametrize("release", [r for r in ("3.10", "3.11", "3.12", "3.13") if r != OWN])
def test_a_wheel_of_this_release_lowers_and_runs(release: str, tmp_path: Path) -> None:
    python = interpreter(release)
    if python is None:
        pytest.skip(f"no Python {release} on this machine")
    command(python, "-m", "venv", "builder", cwd=tmp_path)
    builder = tmp_path / "builder" / "bin" / "python"
    # Its short form is newer than the pip of Python 3.10.
    settings = "--config-settings=build-dir=pip-out-{cache_tag}"
    options = ["-q", "--no-deps", settings, "-w", tmp_path]
    command(builder, "-m", "pip", "wheel", *options, ROOT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("executorch-*.whl")
    assert f"-cp{release.replace('.', '')}-" in wheel.name
    user = environment_with(wheel, "torch==2.13.0", tmp_path, python)
    assert command(user, "-c", LOWER, cwd=tmp_path).split() == ["ok"] * 3
