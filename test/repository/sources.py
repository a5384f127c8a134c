# SPDX-License-Identifier: BSD-3-Clause
"""The files of the repository as git sees them, and what they include and import."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](?P<path>[^>"]+)[>"]', re.M)


@functools.cache
def files() -> tuple[Path, ...]:
    """Tracked and not ignored, relative to the root; links are left out."""
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = (Path(line) for line in listing.stdout.splitlines())
    return tuple(p for p in paths if not (ROOT / p).is_symlink() and (ROOT / p).is_file())


def with_suffix(*suffixes: str) -> list[Path]:
    return [p for p in files() if p.suffix in suffixes and p.parts[0] != "third-party"]


def is_test(path: Path) -> bool:
    return (
        path.stem.endswith(("_test", "_bench"))
        or path.stem.startswith("test_")
        or path.name == "conftest.py"
        or any(part in ("test", "testing_util") for part in path.parts[:-1])
    )


def is_compat(path: Path) -> bool:
    """Whether it is marked as a module for users alone: `# compat` by itself, the line behind the licence."""
    with (ROOT / path).open() as file:
        return "# compat\n" in [file.readline() for _ in range(2)]


def module_of(path: Path) -> str:
    """Of a Python file, as it is imported without the package's name: exir.passes, tools.cmake.copy_tool."""
    parts = path.with_suffix("").parts
    inside = parts[2:] if parts[:2] == ("src", "executorch") else parts
    return ".".join(inside).removesuffix(".__init__")


def includes(path: Path) -> Iterator[tuple[int, str]]:
    """(line, included path) of a C++ file."""
    text = (ROOT / path).read_text(errors="replace")
    for found in INCLUDE.finditer(text):
        yield text.count("\n", 0, found.start()) + 1, found["path"]


@functools.cache
def imports(path: Path) -> tuple[tuple[int, str], ...]:
    """(line, absolute module) of a Python file, those inside functions too."""
    return tuple(_imports(ast.parse((ROOT / path).read_text())))


def _imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.lineno, node.module
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}"
