# SPDX-License-Identifier: BSD-3-Clause
"""`make wheel`: the tag is true and old enough, and what is inside works: lowering, XNNPACK, libraries of others."""

from __future__ import annotations

import re
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from executorch.test.install.cmake_package_test import delegated
from executorch.test.install.custom_ops_test import SCRIPT
from executorch.test.install.new_user import LOWER, command, environment_with
from executorch.test.install.symbols import newer
from executorch.test.repository.sources import ROOT

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(sys.platform != "linux", reason="manylinux"),
]
# Each module throws and translates; a type is the other module's.
ERRORS = """
from executorch.extension.pybindings import _portable_lib, data_loader
from pathlib import Path
for call in (lambda: data_loader.PyDataLoader("missing"), lambda: _portable_lib._load_program(Path("missing")),
             lambda: _portable_lib._load_program_from_buffer(b"no program" * 10)):
    try:
        call()
    except RuntimeError as error:
        print(type(error).__name__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    command(sys.executable, ROOT / "scripts" / "release_wheel.py", "--output", folder, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment_with(wheel, "torch==2.13.0", tmp_path_factory.mktemp("new_user"))


@pytest.fixture(scope="module")
def package(python: Path) -> Path:
    (folder,) = python.parents[1].glob("lib/python*/site-packages/executorch")
    return folder


def test_the_tag_is_true(wheel: Path, tmp_path: Path) -> None:
    auditwheel = [ROOT / "build/release/venv/bin/python", "-m", "auditwheel"]
    shown = " ".join(command(*auditwheel, "show", wheel, cwd=tmp_path).split())
    assert "manylinux_2_28_x86_64" in wheel.name
    tag = re.search(r'consistent with the following platform tag: "manylinux_2_(\d+)_', shown)
    assert tag and int(tag[1]) <= 28, shown


def test_no_symbol_is_newer_than_the_tag(wheel: Path, tmp_path: Path) -> None:
    """glibc 2.28, and the libstdc++ of GCC 8."""
    zipfile.ZipFile(wheel).extractall(tmp_path)
    files = [path for path in tmp_path.rglob("*") if path.is_file() and not path.is_symlink()]
    binaries = [path for path in files if path.open("rb").read(4) == b"\x7fELF"]
    assert {"_portable_lib", "data_loader", "_native", "flatc", "libextension_module"} <= {
        path.name.partition(".")[0] for path in binaries
    }
    assert {binary.name: found for binary in binaries if (found := newer(binary))} == {}


def test_it_lowers_and_runs(python: Path, tmp_path: Path) -> None:
    assert command(python, "-c", LOWER, cwd=tmp_path).split() == ["ok"] * 3
    command(python, "-m", "pip", "check", cwd=tmp_path)


def test_exceptions_cross_its_modules(python: Path, tmp_path: Path) -> None:
    printed = command(python, "-c", ERRORS, cwd=tmp_path).split()
    assert printed == ["ExecuTorchError"] * 3


def build(source: str, target: str, package: Path, folder: Path) -> Path:
    """The folder where the system's compiler built a target of test/consumer with the wheel."""
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    where = ["-S", ROOT / "test" / source, "-B", folder / "build", *generator]
    command("cmake", *where, f"-DCMAKE_PREFIX_PATH={package}", cwd=folder)
    command("cmake", "--build", folder / "build", "--target", target, cwd=folder)
    return folder / "build"


def test_python_runs_operators_of_a_library(package: Path, python: Path, tmp_path: Path) -> None:
    built = build("consumer/custom_ops", "my_operators", package, tmp_path)
    (library,) = built.glob("libmy_operators.*")
    assert command(python, "-c", SCRIPT, library, cwd=tmp_path) == "True\n"


def test_a_program_links_its_archives(package: Path, tmp_path: Path) -> None:
    path, expected = delegated(tmp_path)
    program = build("consumer", "consumer_of_backends", package, tmp_path) / "consumer_of_backends"
    printed = float(command(program, path, cwd=tmp_path).split()[0])
    assert printed == pytest.approx(expected, rel=1e-4)
