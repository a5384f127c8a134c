# SPDX-License-Identifier: BSD-3-Clause
"""The ways to build a wheel from a clone: build isolation on, no variables set. And what each gives works elsewhere."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from executorch.test.repository.sources import ROOT

pytestmark = pytest.mark.full

RUNS = """
import sys, torch, executorch.exir
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
model, x = torch.nn.Linear(3, 3).eval(), torch.randn(2, 3)
lowered = to_edge_transform_and_lower(torch.export.export(model, (x,)), partitioner=[XnnpackPartitioner()])
lowered.to_executorch().save("linear.pte")
(y,) = Runtime.get().load_program("linear.pte").load_method("forward").execute([x])
print(torch.allclose(y, model(x), rtol=1e-3, atol=1e-5), executorch.exir.__file__)
"""


def command(*words: object, cwd: Path) -> str:
    """With nothing of this process' environment but where programs, caches and package indexes are; and the compiler's
    name and flags under which ccache keeps the C++ build's objects."""
    kept = (
        "PATH",
        "HOME",
        "TMPDIR",
        "PIP_",
        "SSL_",
        "HTTP",
        "http",
        "NO_PROXY",
        "no_proxy",
        "CCACHE_",
    )
    environment = {k: v for k, v in os.environ.items() if k.startswith(kept)}
    environment |= {"CC": "cc", "CXX": "c++", "CMAKE_ARGS": "-DEXECUTORCH_WARNINGS_AS_ERRORS=ON"}
    text = [str(word) for word in words]
    done = subprocess.run(
        text, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(text)}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone with this tree's changes, and the third-party sources that are here already. Its build folder stays from
    one test to the next: what an isolated build compiled, the next one finds."""
    folder = tmp_path_factory.mktemp("built")
    command("git", "clone", "-q", ROOT, "clone", cwd=folder)
    changed = command("git", "ls-files", "-com", "--exclude-standard", cwd=ROOT).splitlines()
    for name in set(changed):
        if (ROOT / name).is_file() and not (ROOT / name).is_symlink():
            (folder / "clone" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / "clone" / name)
    cache = Path(os.environ.get("EXECUTORCH_SOURCE_CACHE", ROOT / "third-party" / ".cache"))
    shutil.copytree(cache / "tarballs", folder / "clone" / "third-party" / ".cache" / "tarballs")
    return folder / "clone"


@contextlib.contextmanager
def gone(folder: Path) -> Iterator[None]:
    """What was installed from `folder` must not need it."""
    away = folder.rename(folder.with_name("elsewhere"))
    try:
        yield
    finally:
        away.rename(folder)


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """A fresh environment with the dependencies of this one, but neither this tree nor an installed wheel of it."""
    command(sys.executable, "-m", "venv", "venv", cwd=tmp_path)
    (site,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    for folder in map(Path, sys.path):
        if folder.name != "site-packages":
            continue
        for path in folder.iterdir():
            mine = path.name.startswith(("executorch", "__editable__", "_executorch"))
            if not (mine or path.suffix == ".pth" or (site / path.name).exists()):
                (site / path.name).symlink_to(path)
    return tmp_path / "venv" / "bin" / "python"


def works(python: Path, folder: Path) -> str:
    """Where the package that ran lies."""
    folder.mkdir()
    result, path = command(python, "-c", RUNS, cwd=folder).split()
    assert result == "True"
    return path


@pytest.mark.req("BLD-007", "BLD-008")
def test_pip_install(clone: Path, python: Path, tmp_path: Path) -> None:
    """Also when the clone is gone; with what CMAKE_ARGS says (command()), which is off where pip builds."""
    command(python, "-m", "pip", "install", "-q", "--no-deps", ".", cwd=clone)
    cache = (clone / "pip-out" / "CMakeCache.txt").read_text()
    assert "EXECUTORCH_WARNINGS_AS_ERRORS:BOOL=ON" in cache
    with gone(clone):
        assert "site-packages" in works(python, tmp_path / "empty")


@pytest.mark.req("BLD-005", "PY-014")
@pytest.mark.parametrize("isolation", [[], ["--no-build-isolation"]], ids=["isolated", "not"])
def test_an_editable_install_shows_edits(
    isolation: list[str], clone: Path, python: Path, tmp_path: Path
) -> None:
    command(python, "-m", "pip", "install", "-q", "--no-deps", *isolation, "-e", ".", cwd=clone)
    assert works(python, tmp_path / "empty") == str(clone / "exir" / "__init__.py")
    number = str(len(isolation) + 42)
    with (clone / "exir" / "__init__.py").open("a") as file:
        file.write(f"EDITED = {number}\n")
    code = "import executorch.exir, executorch; print(executorch.exir.EDITED, executorch.__file__)"
    edited, package = command(python, "-c", code, cwd=tmp_path).split()
    assert edited == number and package == str(clone / "src" / "executorch" / "__init__.py")


@pytest.mark.req("BLD-001")
def test_a_source_archive_gives_the_wheel(clone: Path, python: Path, tmp_path: Path) -> None:
    """Third-party sources are inside: no archive of another distribution is asked."""
    command(python, "-m", "pip", "install", "-q", "build", cwd=tmp_path)
    command(python, "-m", "build", "-o", tmp_path / "dist", ".", cwd=clone)
    (archive,) = (tmp_path / "dist").glob("*.tar.gz")
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    with tarfile.open(archive) as file:
        names = file.getnames()
    table = re.search(
        r"^table='\n(.+?)^'", (clone / "scripts/fetch_sources.sh").read_text(), re.M | re.S
    )
    assert table is not None
    components = {row.split()[0] for row in table[1].splitlines()}
    assert sum("/third-party/archives/" in name for name in names) == len(components)
    assert not [name for name in names if "/.cache/" in name or "/pip-out" in name]
    with gone(clone):
        command(python, "-m", "pip", "install", "-q", "--no-deps", wheel, cwd=tmp_path)
        assert "site-packages" in works(python, tmp_path / "empty")
