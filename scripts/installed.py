# SPDX-License-Identifier: BSD-3-Clause
"""Makes build/installed: an environment whose `executorch` is the wheel of this tree, with this tree's tests beside it.

    installed.py [--wheel FILE] [--reuse] [pytest argument...]

The wheel is built as a user builds it (`pip wheel .`), or given. With --reuse, an environment that was made of the same
sources is taken as it is. The environment takes everything else from the one that runs this. Tests stay where they are;
the package has links to them: <site-packages>/executorch/exir/emit_test.py is exir/emit_test.py of this tree. So a test
imports what was installed, and nothing else of the tree can be imported.
Then pytest runs there with the arguments given; its results go to build/results (tools/requirements reads them).
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
HOME = BUILD / "installed"
STAMP = HOME / "made-of"  # what the wheel in it was built of
# What is not in the wheel and that tests import, besides the tests themselves (wheel.exclude in pyproject.toml).
SUPPORT = ("test", "tools", "kernels/test", "extension/text/tokenizers/test", "extension/android/test",
           "extension/apple")  # fmt: skip
TESTS = ("*_test.py", "test_*.py", "*_bench.py", "conftest.py")


def run(*command: object, **variables: str) -> None:
    words = [str(word) for word in command]
    if code := subprocess.run(words, cwd=ROOT, env=os.environ | variables, check=False).returncode:
        sys.exit(f"error: `{' '.join(words)}` ended with code {code}; see the lines above")


def build_wheel(
    folder: Path, *options: str, python: str = sys.executable, cmake: str = "", **variables: str
) -> Path:
    """With the compiler's name and the flags of the C++ build, under which ccache keeps its objects."""
    shutil.rmtree(folder, ignore_errors=True)
    names = {k: v for k, v in (("CC", "cc"), ("CXX", "c++")) if shutil.which(v)}
    names["CMAKE_ARGS"] = f"-DEXECUTORCH_WARNINGS_AS_ERRORS=ON {cmake}".strip()
    command = [python, "-m", "pip", "wheel", "-q", "--no-deps", *options, "-w", folder, ROOT]
    run(*command, **(names | os.environ | variables))
    (wheel,) = folder.glob("executorch-*.whl")
    return wheel


def make_environment(wheel: Path) -> Path:
    """The environment with the wheel in it, made anew; returns the installed package's folder."""
    shutil.rmtree(HOME, ignore_errors=True)
    run(sys.executable, "-m", "venv", "--without-pip", HOME)
    variables = {"base": str(HOME), "platbase": str(HOME)}
    site = Path(sysconfig.get_path("purelib", vars=variables))
    # A line of a .pth file brings the folder's packages, not the folder's own .pth files: no link to this tree.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    python = Path(sysconfig.get_path("scripts", vars=variables)) / Path(sys.executable).name
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", wheel)
    return site / "executorch"


def sources_state() -> str:
    """A name for the sources of a wheel as they stand, committed or not; empty where git does not tell."""
    state = hashlib.sha256(sys.executable.encode())
    in_wheel = ["--", ".", ":!docs", ":!test"]
    for words in (["rev-parse", "HEAD"], ["diff", "--binary", "HEAD", *in_wheel]):
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=False)
        if done.returncode:
            return ""
        state.update(done.stdout)
    words = ["git", "ls-files", "-o", "-z", "--exclude-standard", *in_wheel]
    listing = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listing.split("\0")[:-1]:
        path = ROOT / name
        state.update(name.encode() + (path.read_bytes() if path.is_file() else b""))
    return state.hexdigest()


def made_environment(given: Path | None, reuse: bool) -> tuple[Path, Path]:
    """The installed package's folder and its wheel; with `reuse`, those that are there, if of these sources."""
    state = "" if given else sources_state()
    if reuse and state and STAMP.is_file() and STAMP.read_text() == state:
        packages = list(HOME.glob("lib/python*/site-packages/executorch"))
        wheels = list((BUILD / "wheel").glob("executorch-*.whl"))
        if len(packages) == len(wheels) == 1:
            return packages[0], wheels[0]
    wheel = (given or build_wheel(BUILD / "wheel")).resolve()
    package = make_environment(wheel)
    STAMP.write_text(state)
    return package, wheel


def link_tests(package: Path) -> None:
    """Links tests and what they are written with into the package."""
    for folder in SUPPORT:
        if not (package / folder).is_symlink():
            (package / folder).symlink_to(ROOT / folder)
    for folder in sorted(path.name for path in package.iterdir() if path.is_dir()):
        if folder in SUPPORT or not (ROOT / folder).is_dir():
            continue
        for pattern in TESTS:
            for test in (ROOT / folder).rglob(pattern):
                link = package / test.relative_to(ROOT)
                if not link.exists() and not any(part.startswith(".") for part in test.parts):
                    link.parent.mkdir(parents=True, exist_ok=True)
                    link.symlink_to(test)


def results_file(arguments: list[str]) -> Path:
    """One file for each choice of tests: a run of a few leaves the others' last results."""
    chosen = "-".join(re.findall(r"\w+", " ".join(arguments)))[:60]
    return BUILD / "results" / f"pytest-{chosen or 'all'}.xml"


def run_tests(package: Path, wheel: Path, arguments: list[str]) -> int:
    """pytest in the environment; paths are the tree's, from its root: `exir`, `exir/emit/emit_program_test.py`."""
    python = HOME / "bin" / Path(sys.executable).name
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment["PATH"] = f"{python.parent}{os.pathsep}{environment['PATH']}"
    environment["EXECUTORCH_INSTALLED"] = str(package)
    environment["EXECUTORCH_WHEEL"] = str(wheel)
    # Tools of backends, in the environment that setup makes.
    for tools in (Path(sys.prefix) / "tools").glob("*"):
        environment.setdefault(f"EXECUTORCH_TOOLS_{tools.name.upper()}", str(tools))
    # PyTorch's threads wait for each other without using the processor: processes share it here.
    environment.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    options = ["-c", ROOT / "pyproject.toml", "--rootdir", package, "--confcutdir", package]
    results = results_file(arguments)
    results.unlink(missing_ok=True)
    options.append(f"--junitxml={results}")
    command = [python, "-m", "pytest", *options, *arguments]
    return subprocess.run(
        [str(word) for word in command], cwd=package, env=environment, check=False
    ).returncode


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--wheel", type=Path, help="take this wheel instead of building one")
    parser.add_argument("--reuse", action="store_true", help="keep what is of these sources")
    options, arguments = parser.parse_known_args(argv)
    package, wheel = made_environment(options.wheel, options.reuse)
    link_tests(package)
    return run_tests(package, wheel, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
