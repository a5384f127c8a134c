# SPDX-License-Identifier: BSD-3-Clause
"""The environment with the wheel is made once for sources that stay as they are (scripts/installed.py --reuse)."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from executorch.tools.tiers.times import ROOT


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, for a small tree with one commit; it makes nothing."""
    spec = importlib.util.spec_from_file_location("installed_script", ROOT / "scripts/installed.py")
    assert spec and spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    build = tmp_path / "build"
    places = {"ROOT": tmp_path, "BUILD": build, "HOME": build / "installed"}
    for name, value in {**places, "STAMP": build / "installed" / "made-of"}.items():
        monkeypatch.setattr(script, name, value)
    (tmp_path / ".gitignore").write_text("build\n")
    (tmp_path / "a.py").write_text("")
    given = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"]):
        subprocess.run(["git", *given, *words], cwd=tmp_path, check=True)

    def build_wheel(folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "executorch-1.whl").touch()
        return folder / "executorch-1.whl"

    def make_environment(wheel: Path) -> Path:
        package = build / "installed/lib/python3.11/site-packages/executorch"
        package.mkdir(parents=True, exist_ok=True)
        script.made.append(wheel)
        return package

    script.made = []
    monkeypatch.setattr(script, "build_wheel", build_wheel)
    monkeypatch.setattr(script, "make_environment", make_environment)
    return script


def test_it_is_made_anew_when_a_source_is_another(installed: ModuleType, tmp_path: Path) -> None:
    first = installed.made_environment(None, reuse=True)
    assert installed.made_environment(None, reuse=True) == first
    assert len(installed.made) == 1
    installed.made_environment(None, reuse=False)
    assert len(installed.made) == 2
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text("a page of results")
    installed.made_environment(None, reuse=True)
    assert len(installed.made) == 2, "no document is in the wheel"
    for text in ("changed", "again"):
        (tmp_path / "a.py").write_text(text)
        installed.made_environment(None, reuse=True)
    (tmp_path / "new.py").write_text("")
    installed.made_environment(None, reuse=True)
    assert len(installed.made) == 5


def test_a_wheel_that_is_given_is_installed(installed: ModuleType, tmp_path: Path) -> None:
    for _ in range(2):
        installed.made_environment(tmp_path / "given.whl", reuse=True)
    installed.made_environment(None, reuse=True)
    assert [wheel.name for wheel in installed.made] == [
        "given.whl",
        "given.whl",
        "executorch-1.whl",
    ]
