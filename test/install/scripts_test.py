# SPDX-License-Identifier: BSD-3-Clause
"""The commands at the root and in scripts/: flags, refusals, cleaning."""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
import tarfile
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


@pytest.fixture
def asked(copy: Path) -> Path:
    """Instead of pip, a module that writes down its arguments and CMAKE_ARGS; instead of downloads, a word."""
    (copy / "recorded" / "pip").mkdir(parents=True)
    log = copy / "asked.txt"
    (copy / "recorded/pip/__main__.py").write_text(
        "import os, sys\n"
        f"with open({str(log)!r}, 'a') as file:\n"
        "    print(*sys.argv[1:], '|', os.environ.get('CMAKE_ARGS', ''), file=file)\n"
    )
    (copy / "recorded/pip/__init__.py").touch()
    (copy / "scripts/fetch_sources.sh").write_text(f'echo "fetched |" >> {log}\n')
    return log


def lines_of(asked: Path, *words: object, **environment: str) -> list[str]:
    folder = asked.parent
    given = {"PYTHON": sys.executable, "PYTHONPATH": str(folder / "recorded"), **environment}
    done = attempt(*words, cwd=folder, **given)
    assert done.returncode == 0, done.stderr
    return asked.read_text().splitlines()


@pytest.mark.req("BLD-006")
@pytest.mark.parametrize(
    "words", [["./install_requirements.sh"], ["sh", "install_requirements.sh"]]
)
def test_requirements_are_installed_without_the_package(asked: Path, words: list[str]) -> None:
    lines = lines_of(asked, *words, TORCH_INDEX_URL="https://example.org/cpu")
    assert len(lines) == 3
    assert "--index-url https://example.org/cpu -r scripts/requirements-torch.txt" in lines[0]
    assert lines[1].split("|")[0].endswith("-r scripts/requirements.txt ")
    assert lines[2].startswith("fetched")


@pytest.mark.req("BLD-008", "BLD-009")
def test_the_build_gets_cmake_args_and_the_flags_of_an_intel_mac(asked: Path) -> None:
    """scikit-build-core hands CMAKE_ARGS to CMake; the wheel of build_test.py is built with them."""
    words = ["./install_executorch.sh", "--use-pt-pinned-commit", "--minimal"]
    lines = lines_of(asked, *words, CMAKE_ARGS="-DEXECUTORCH_BUILD_VULKAN=ON")
    assert "requirements-torch.txt" in lines[0]
    assert not any("requirements-examples" in line for line in lines)
    package, _, arguments = lines[-1].partition("|")
    assert "install" in package and " . --no-build-isolation" in package
    assert arguments.strip() == "-DEXECUTORCH_BUILD_VULKAN=ON"


def test_examples_needs_are_installed_unless_minimal(asked: Path) -> None:
    lines = lines_of(asked, "./install_executorch.sh")
    assert any("requirements-examples.txt" in line for line in lines)


@pytest.mark.req("BLD-014")
def test_the_devtools_need_model_explorer(asked: Path) -> None:
    script = ROOT / "devtools" / "install_requirements.sh"
    (line,) = lines_of(asked, script, "--upgrade", PYTHON_EXECUTABLE=sys.executable)
    assert line.startswith("install ai-edge-model-explorer>=") and "--upgrade" in line


def test_sources_are_unpacked_with_the_patches_that_there_are(copy: Path) -> None:
    """One component has a patch and one has none; a patch that does not fit is an error that names it."""
    rows = []
    archives = copy / "third-party/archives"
    archives.mkdir(parents=True)
    for name in ("bare", "mended"):
        (copy / name).mkdir()
        (copy / name / "text").write_text("old\n")
        archive = archives / f"{name}_1.tar.gz"
        with tarfile.open(archive, "w:gz") as tar:
            tar.add(copy / name, arcname=name)
        rows.append(
            f"{name} pool/{archive.name} {hashlib.sha256(archive.read_bytes()).hexdigest()} MIT"
        )
    patch = copy / "third-party/patches/mended/new.patch"
    patch.parent.mkdir(parents=True)
    patch.write_text("--- a/text\n+++ b/text\n@@ -1 +1 @@\n-old\n+new\n")
    script = copy / "scripts/fetch_sources.sh"
    table = "table='\n" + "\n".join(rows) + "\n'\n"
    script.write_text(re.sub(r"(?ms)^table='.*?^'\n", table, script.read_text()))
    unpacked = copy / "third-party/.cache/src"

    assert (done := attempt(script, cwd=copy)).returncode == 0, done.stderr
    assert [(unpacked / name / "text").read_text() for name in ("bare", "mended")] == [
        "old\n",
        "new\n",
    ]
    patch.write_text(patch.read_text().replace("-old", "-older"))
    refused = attempt(script, cwd=copy)
    assert refused.returncode != 0
    assert "third-party/patches/mended/new.patch does not fit mended_1.tar.gz" in refused.stderr


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
