# SPDX-License-Identifier: BSD-3-Clause
"""Which tests a change can reach: Python files that import what changed, or what imports it, and so on.

A file that is no Python module is reached from the modules that name it, and from the tests nearest to it.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from executorch.test.repository.sources import ROOT, files
from executorch.tools.tiers.times import Times, file_of

PACKAGE = "executorch"
# Folders whose modules have a name of their own.
HOMES = {"src": "", "extension/text/tokenizers/pytorch_tokenizers": "pytorch_tokenizers"}
NAMED = re.compile(r"\bexecutorch(?:\.\w+)+")
# `make lint` runs the tests of this folder, but for those of imports, which take long.
LINT, IMPORTS = "test/repository/", "test/repository/imports_test.py"
STARTING = 0.3  # seconds that a file takes before its first test


def module_name(path: Path) -> str:
    """ "executorch.exir.emit" of exir/emit/__init__.py."""
    parts, name = path.with_suffix("").parts, ""
    for folder, home in HOMES.items():
        inside = Path(folder).parts
        if parts[: len(inside)] == inside:
            parts, name = parts[len(inside) :], home
            break
    else:
        name = PACKAGE
    words = [word for word in (name, *parts) if word]
    return ".".join(words).removesuffix(".__init__")


def is_test_file(path: Path) -> bool:
    """As python_files of pyproject.toml has them."""
    named = path.name.startswith("test_") or path.name.endswith("_test.py")
    return path.suffix == ".py" and named and "projects" not in path.parts[:2]


@dataclass(frozen=True)
class Source:
    """A Python file: the modules that it imports or names, and its text."""

    names: frozenset[str]
    text: str


def named_modules(path: Path, text: str, known: set[str]) -> Iterator[str]:
    """Of `known`, those that a file imports, inside functions too, and those that its strings name."""
    module = module_name(path)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]

    def real(name: str) -> str | None:
        for one in (name, f"{PACKAGE}.{name}"):
            if one in known:
                return one
        return None

    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found = [real(alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: -(node.level - 1) or None] if node.level else []
            home = ".".join((*above, *([node.module] if node.module else [])))
            # A name of a package is a module of it, or stands in the package itself.
            found = [real(f"{home}.{alias.name}") or real(home) for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = [real(name) for name in NAMED.findall(node.value)]
            if path.name == "__init__.py" and node.value.isidentifier():  # a name made on demand
                found.append(real(f"{package}.{node.value}"))
        else:
            continue
        yield from (name for name in found if name and name != module)


class Graph:
    """Which files lead to which: from a file to those that it can change."""

    def __init__(self, paths: Iterable[Path], root: Path = ROOT) -> None:
        self.paths = list(paths)
        python = [path for path in self.paths if path.suffix == ".py"]
        python = [path for path in python if path.parts[0] != "third-party"]
        self.texts = {path: (root / path).read_text() for path in python}
        homes = {module_name(path): path for path in python}
        self.readers: dict[Path, set[Path]] = {}
        for path, text in self.texts.items():
            for name in named_modules(path, text, set(homes)):
                self.readers.setdefault(homes[name], set()).add(path)
        for path in python:
            if path.name == "conftest.py":
                below = {test for test in python if path.parent in test.parents}
                self.readers.setdefault(path, set()).update(filter(is_test_file, below))

    def beside(self, path: Path) -> set[Path]:
        """For a file that is no module: what names it, and the tests of the nearest folder that has any."""
        found = {one for one, text in self.texts.items() if path.name in text}
        for folder in path.parents[:-1]:
            tests = {one for one in self.texts if is_test_file(one) and folder in one.parents}
            if tests:
                return found | tests
        return found

    def distances(self, changed: Iterable[Path]) -> dict[Path, int]:
        """Every Python file that the change reaches: 0 for what changed, 1 for what imports it, and so on."""
        found: dict[Path, int] = {}
        wave, distance = set(changed), 0
        while wave:
            found |= dict.fromkeys(wave, distance)
            following = set()
            for path in wave:
                following |= self.readers.get(path, set())
                if path not in self.texts:
                    following |= self.beside(path)
            wave, distance = following - found.keys(), distance + 1
        return {path: distance for path, distance in found.items() if path in self.texts}


@dataclass(frozen=True)
class Choice:
    """Test files of which `chosen` fit into the time, and `left` do not."""

    chosen: list[str]
    left: list[str]
    seconds: float  # of the chosen


def choose(distances: dict[Path, int], times: Times, seconds: float) -> Choice:
    """One file of each room that the change reaches, then the nearest to the change, of those the shortest first; only
    their fast tests count."""
    slow = {file_of(name) for name in times.tests}
    costs = {}
    for path in filter(is_test_file, distances):
        name = path.as_posix()
        known = times.files.get(name)
        linted = name.startswith(LINT) and name != IMPORTS
        if not linted and (known or name not in slow):
            costs[path] = STARTING + (known.seconds if known else 0)
    in_order = sorted(costs, key=lambda one: (distances[one], costs[one], one))
    first_of: dict[str, Path] = {}
    for path in in_order:
        first_of.setdefault(room_of(path), path)
    chosen, left, spent = [], [], 0.0
    for path in dict.fromkeys([*first_of.values(), *in_order]):
        fits = spent + costs[path] <= seconds
        (chosen if fits else left).append(path.as_posix())
        spent += costs[path] if fits else 0
    return Choice(chosen, left, spent)


def room_of(path: Path) -> str:
    """backends/arm, extension/llm, exir/backend: what a file is a part of."""
    return "/".join(path.parts[: min(2, len(path.parts) - 1)])


def changed_files(base: str | None = None, root: Path = ROOT) -> list[Path]:
    """What differs from where this branch left main, or from the commit before on main itself; what is not committed
    is part of it."""

    def git(*words: str) -> list[str]:
        command = ["git", *words]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        return done.stdout.splitlines() if done.returncode == 0 else []

    head = git("rev-parse", "HEAD")
    if base is None:
        forks = (git("merge-base", "HEAD", name) for name in ("origin/main", "main"))
        base = next((fork[0] for fork in forks if fork and fork != head), "HEAD~1")
        uncommitted = git("status", "--porcelain")
        if base == "HEAD~1" and uncommitted:
            base = "HEAD"
    names = git("diff", "--name-only", base) + git("ls-files", "-o", "--exclude-standard")
    return sorted({Path(name) for name in names})


def reached(base: str | None, times: Times, seconds: float) -> tuple[list[Path], Choice]:
    changed = changed_files(base)
    graph = Graph(files())
    return changed, choose(graph.distances(changed), times, seconds)
