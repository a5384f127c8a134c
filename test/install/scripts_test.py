# SPDX-License-Identifier: BSD-3-Clause
"""The commands at the root and in scripts/: flags, refusals, cleaning."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from executorch.test.e2e.build_tree import ROOT
from executorch.test.install.commands import attempt


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A tree with the scripts alone, so that nothing real is removed or installed."""
    for name in ("install_executorch.sh", "install_requirements.sh"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    return tmp_path


@pytest.mark.req("BLD-003")
def test_the_documented_flags_are_listed() -> None:
    done = attempt("./install_executorch.sh", "--help")
    assert done.returncode == 0
    for flag in (
        "--clean",
        "--editable",
        "--minimal",
        "--use-pt-pinned-commit",
        "--optional-dependency",
    ):
        assert flag in done.stdout


@pytest.mark.req("BLD-004")
def test_clean_removes_build_results_and_nothing_else(copy: Path) -> None:
    for folder in ("cmake-out", "cmake-out-asan", "pip-out", "build", "exir/__pycache__", "docs"):
        (copy / folder).mkdir(parents=True)
    (copy / "exir" / "_native.so").touch()
    (copy / "exir" / "kept.py").touch()
    tools = copy / "tools_on_path"
    tools.mkdir()
    (tools / "ccache").write_text('#!/bin/sh\necho "$@" >> "$CCACHE_DIR/asked"\n')
    (tools / "ccache").chmod(0o755)
    (copy / "cache").mkdir()
    done = attempt(
        "./install_executorch.sh",
        "--clean",
        cwd=copy,
        PATH=f"{tools}:/usr/bin:/bin",
        CCACHE_DIR=str(copy / "cache"),
    )
    assert done.returncode == 0, done.stderr
    assert (copy / "cache" / "asked").read_text().split() == ["--clear"]
    left = {str(p.relative_to(copy)) for p in copy.rglob("*") if "cache" not in p.parts[-1]}
    assert "exir/kept.py" in left and "docs" in left
    assert not {
        p for p in left if p.startswith(("cmake-out", "pip-out", "build")) or p.endswith(".so")
    }


@pytest.mark.parametrize("script", sorted((ROOT / "scripts").glob("*.sh")), ids=lambda p: p.name)
def test_shell_scripts_parse(script: Path) -> None:
    assert attempt("bash", "-n", script).returncode == 0


@pytest.mark.parametrize("name", ["install_executorch.sh", "install_requirements.sh"])
def test_root_scripts_are_posix(name: str) -> None:
    """Documents call them with plain sh."""
    assert attempt("sh", "-n", ROOT / name).returncode == 0


def test_an_unusable_python_is_named(copy: Path) -> None:
    (copy / "old").write_text("#!/bin/sh\nexit 1\n")
    (copy / "old").chmod(0o755)
    done = attempt(
        *("bash", "scripts/setup.sh"),
        cwd=copy,
        PYTHON=str(copy / "old"),
        VENV=str(copy / "venv"),
        EXECUTORCH_SKIP_APT="1",
    )
    assert done.returncode != 0
    assert str(copy / "old") in done.stderr and "next step" in done.stderr


def test_a_finished_setup_is_left_alone(copy: Path) -> None:
    (copy / "venv").mkdir()
    script = 'cat "$@" | sha256sum | cut -d" " -f1'
    ordered = [*sorted((copy / "scripts").glob("*.sh")), *sorted((copy / "scripts").glob("*.txt"))]
    want = attempt("bash", "-c", script, "bash", *ordered).stdout.strip()
    (copy / "venv" / ".setup-stamp").write_text(f"{want} {copy}")
    done = attempt("bash", "scripts/setup.sh", cwd=copy, VENV=str(copy / "venv"))
    assert done.returncode == 0 and "up to date" in done.stdout, done.stdout + done.stderr
