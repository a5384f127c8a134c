# SPDX-License-Identifier: BSD-3-Clause
"""The guide's C program on what `cmake --install` writes: header and library, and nothing else of ours."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np

from executorch.extension.c.examples.languages_test import ADD, commands_of
from executorch.test.repository.sources import ROOT


def test_the_guides_c_program_builds_and_runs_on_a_prefix(
    installation: Path, tmp_path: Path
) -> None:
    assert (installation / "include" / "executorch" / "c" / "executorch.h").is_file()
    (tmp_path / "add.pte").symlink_to(ADD)
    (tmp_path / "inputs").write_bytes(np.array([1.5, 2.25], np.float32).tobytes())
    places = {"PREFIX": str(installation), "EXECUTORCH": str(ROOT)}
    done = subprocess.run(
        ["sh", "-e", "-c", "\n".join(commands_of("C"))], cwd=tmp_path, env=os.environ | places,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert np.fromfile(tmp_path / "outputs", np.float32).tolist() == [3.75]
