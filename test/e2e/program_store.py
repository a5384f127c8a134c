# SPDX-License-Identifier: BSD-3-Clause
"""Files that tests export again and again, made once: a plugin of pytest with the fixture `program_store`.

What is made has a name by its content: versions of PyTorch and of what brings models, the sources of the package as
tests import it, the row (a model, or a group of them) and its options. Whoever comes first makes it, in all processes
of all runs; the others wait and find it, in build/programs or in the folder that EXECUTORCH_PROGRAM_STORE names. What
nobody asked for goes when it is full.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from executorch.tools.tiers.clock import CLOCK

SUFFIXES = (".py", ".so", ".yaml", ".json", ".txt", ".fbs", ".bfbs", ".tsv")
DISTRIBUTIONS = ("torch", "torchao", "transformers", "numpy", "tokenizers")
SKIPPED = ("__pycache__", "pip-out", "third-party", "include", "lib", "share")
BYTES, HOURS = (
    2 << 30,
    2,
)  # the store's size, and how long what a run has used stays whatever its size
HOME = Path(__file__).resolve().parents[2] / "build" / "programs"


@functools.cache
def sources(package: Path, parts: tuple[str, ...] = ("",)) -> str:
    """A name for what a program is made by: these parts of the package, without tests, which only read it."""
    state = hashlib.sha256()
    for part in parts:
        for folder, folders, names in os.walk(package / part, followlinks=True):
            folders[:] = sorted(name for name in folders if name not in SKIPPED)
            for name in sorted(names):
                is_test = name.endswith("_test.py") or name.startswith(("test_", "conftest"))
                if name.endswith(SUFFIXES) and not is_test:
                    path = Path(folder, name)
                    state.update(str(path.relative_to(package)).encode())
                    state.update(path.read_bytes())
    return state.hexdigest()


def versions() -> list[str]:
    """Of the packages that programs are made with."""
    found = []
    for name in DISTRIBUTIONS:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found.append(f"{name} {importlib.metadata.version(name)}")
    return found


@dataclass(frozen=True)
class ProgramStore:
    home: Path
    package: Path  # the package that makes the programs

    def folder(
        self,
        row: str,
        make: Callable[[Path], object],
        parts: tuple[str, ...] = ("",),
        **options: str | int | bool,
    ) -> Path:
        """The folder with what `make` writes into an empty one for `row` and `options`. Nobody changes it. `parts`: the
        folders of the package that it follows from, where these are not all."""
        key = json.dumps([versions(), sources(self.package, parts), row, sorted(options.items())])
        place = self.home / hashlib.sha256(key.encode()).hexdigest()[:24]
        self.home.mkdir(parents=True, exist_ok=True)
        with locked(place.with_suffix(".lock")):
            took = place.with_suffix(".seconds")
            if place.exists() and took.exists():
                # A test takes what it takes where nothing was made before (tools/tiers).
                CLOCK.found += float(took.read_text())
            else:
                self._remove_old()
                self._make(place, make)
            os.utime(place)
        return place

    def _make(self, place: Path, make: Callable[[Path], object]) -> None:
        """It is there whole or not at all."""
        part, began = place.with_suffix(".part"), CLOCK.seconds()
        for old in (part, place):
            shutil.rmtree(old, ignore_errors=True)
        part.mkdir()
        make(part)
        place.with_suffix(".seconds").write_text(f"{CLOCK.seconds() - began:.3f}")
        part.rename(place)

    def _remove_old(self) -> None:
        """The folders that nobody asked for lately, until the others fit; a run in progress keeps its own."""
        sizes = {place: size_of(place) for place in self.home.iterdir() if place.is_dir()}
        used = {}
        for place in sizes:
            with contextlib.suppress(OSError):  # another process was faster
                used[place] = place.stat().st_mtime
        total = sum(sizes.values())
        for place in sorted(used, key=lambda one: used[one]):
            if total <= BYTES or time.time() - used[place] < HOURS * 3600:
                break
            shutil.rmtree(place, ignore_errors=True)
            total -= sizes[place]


def size_of(folder: Path) -> int:
    found = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                found += Path(place, name).stat().st_size
    return found


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time; its end frees the lock, however it ends."""
    try:
        import fcntl
    except ImportError:  # a system without them: each process has made its own file before
        yield
        return
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def program_store() -> ProgramStore:
    import executorch

    home = os.environ.get("EXECUTORCH_PROGRAM_STORE")
    return ProgramStore(Path(home) if home else HOME, Path(executorch.__file__).parent)
