# SPDX-License-Identifier: BSD-3-Clause
"""A new user: a fresh environment, `pip install` of the wheel, an empty folder, nothing of this tree on the path."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from executorch.test.documents.run_page import blocks
from executorch.test.install.new_user import LOWER, command, environment_with
from executorch.test.repository.sources import ROOT

WHEEL = os.environ.get("EXECUTORCH_WHEEL", "")
pytestmark = [
    pytest.mark.skipif(not WHEEL, reason="this run takes the packages of the tree"),
]


@pytest.fixture(
    scope="module", params=["torch==2.13.0", pytest.param("torch", marks=pytest.mark.full)]
)
def python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    wheel = f"{WHEEL}[demo]"
    return environment_with(wheel, request.param, tmp_path_factory.mktemp("new_user"))


@pytest.mark.req("BLD-001", "BLD-007", "PY-007", "PY-001", "PY-004")
def test_a_model_is_lowered_in_float_and_8_bits_and_runs(python: Path, tmp_path: Path) -> None:
    assert command(python, "-c", LOWER, cwd=tmp_path).split() == ["ok"] * 3
    command(python, "-m", "pip", "check", cwd=tmp_path)


@pytest.mark.req("BLD-019", "PY-008")
def test_the_first_screen_of_the_readme(python: Path, tmp_path: Path) -> None:
    """Its commands behind `pip install .`, by the command that the wheel installs."""
    text = (ROOT / "README.md").read_text()
    install, _, lines = blocks(text, "bash")[0].partition("\n")
    assert install.startswith("pip install '.[demo]'")
    assert text[: text.index(lines)].count("\n") < 25, "not on the first screen"
    (tmp_path / "classify.py").write_text(blocks(text, "python")[0])
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    printed = command("bash", "-ec", lines, cwd=tmp_path, PATH=path)
    assert "beside the model in PyTorch" in printed
    assert "class 967 (967: espresso) at 0.9398" in printed and "PyTorch: class 967" in printed
    assert (tmp_path / "lite0.pte").exists()
