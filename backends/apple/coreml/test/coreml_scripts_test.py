# SPDX-License-Identifier: BSD-3-Clause
"""The script that the documents name for what Core ML needs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from executorch.backends.apple.coreml.backend import BACKENDS

FOLDER = Path(__file__).parents[1]


@pytest.mark.req("APL-019")
def test_the_script_installs_what_the_extra_does(tmp_path: Path) -> None:
    """With a python3 that tells what it is asked."""
    script = FOLDER / "scripts" / "install_requirements.sh"
    if not script.exists():
        pytest.skip("scripts are of a checkout, not of the installed package")
    teller = tmp_path / "python3"
    teller.write_text('#!/bin/sh\necho "$@"\n')
    teller.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    output = subprocess.run([script], env=env, capture_output=True, text=True, check=True).stdout
    *words, file = output.split()
    assert words == ["-m", "pip", "install", "-r"]
    (backend,) = BACKENDS
    assert tuple(Path(file).read_text().split()) == backend.extras["coreml"]
    assert subprocess.run([script, "--help"], env=env, capture_output=True).returncode == 0
    assert subprocess.run([script, "--x"], env=env, capture_output=True).returncode == 1
