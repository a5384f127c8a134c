# SPDX-License-Identifier: BSD-3-Clause
"""The C interface of what was installed: programs in C and Python, made in an empty folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from executorch.test.documents.commands import commands_of
from executorch.test.e2e.build_tree import ROOT
from executorch.test.install.commands import command

ADD = ROOT / "extension" / "module" / "test" / "resources" / "add.pte"
INPUTS = np.array([1.5, 2.25], np.float32)
LIBRARY = "lib/libexecutorch_c.so"


@pytest.fixture
def empty(prefix: Path, tmp_path: Path) -> Path:
    if not (prefix / LIBRARY).exists():
        pytest.skip(f"{prefix.name} has no {LIBRARY}")
    shutil.copy(ADD, tmp_path / "add.pte")
    INPUTS.tofile(tmp_path / "inputs")
    return tmp_path


@pytest.mark.parametrize("language", ["C", "Python"])
def test_a_program_against_the_prefix(prefix: Path, empty: Path, language: str) -> None:
    """By the guide's commands, whose sources alone are of a clone."""
    script = "\n".join(commands_of("other_languages", language))
    command("sh", "-e", "-c", script, cwd=empty, EXECUTORCH=str(ROOT), PREFIX=str(prefix))
    assert np.fromfile(empty / "outputs", np.float32).tolist() == [3.75]
