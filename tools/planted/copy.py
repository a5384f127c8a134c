# SPDX-License-Identifier: BSD-3-Clause
"""A copy of the tree that faults are planted in: files as links to the tree's own, but those that were changed."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from executorch.tools.planted.native import linked_again
from executorch.tools.planted.plants import Plant
from executorch.tools.planted.warm import COLD, IMPORTED, LATE, Warm

_TIMEOUT_S = 900


@dataclass(frozen=True)
class Ran:
    """What the tests said."""

    failed: bool
    last_line: str
    test: str = ""  # the first that failed


def _names(root: Path) -> list[str]:
    """Files that git has or would have, and what the build placed beside them: native modules, generated Python."""
    words = ["git", "ls-files", "--cached", "--others"]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True)
    skipped = ("build/", "cmake-out", "dist/", "third-party/.cache/", ".venv/")
    return [
        name
        for name in dict.fromkeys(done.stdout.splitlines())
        if not name.startswith(skipped) and "__pycache__" not in name
    ]


class Copy:
    """`folder` is made anew. Nothing is written outside of it: a file is never changed in place, as links share it."""

    def __init__(self, root: Path, folder: Path, imported: tuple[str, ...] = IMPORTED) -> None:
        """`imported`: modules that all tests may start with."""
        self.root, self.folder, self._imported = root, folder, imported
        self._aside: list[tuple[Path, Path]] = []  # (where a file is, where it belongs)
        if folder.exists():
            shutil.rmtree(folder)
        for name in _names(root):
            self._bring(name)
        self._warm: dict[bool, Warm] = {}  # the hot one, and the other
        self._collected: dict[str, bool] = {}  # files of tests that the hot one was asked to import
        self._passing: dict[str, bool] = {}  # those that it ran unplanted
        self._texts: dict[str, str] | None = None  # of the Python file that was planted

    def _bring(self, name: str) -> None:
        source, to = self.root / name, self.folder / name
        if not source.is_symlink() and not source.is_file():
            return
        to.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            to.symlink_to(os.readlink(source))
            return
        try:
            os.link(source, to)
        except OSError:  # another file system
            shutil.copy2(source, to)

    def _keep(self, path: Path) -> None:
        """Puts the file aside until restore(); what the tree has by then may be another one."""
        aside = path.with_name(f"{path.name}.whole")
        path.rename(aside)
        self._aside.append((aside, path))

    def plant(self, plant: Plant, native: str) -> None:
        path = self.folder / plant.file
        text = plant.in_text(path.read_text())
        if not native and plant.file.endswith(".py"):
            old = path.read_text()
            self._texts = {"file": str(self.folder / plant.file), "old": old, "new": text}
        self._keep(path)
        path.write_text(text)
        if native:
            linked_again(self.root, self.folder, plant.file, native, self._keep)

    def restore(self) -> None:
        self._texts = None
        while self._aside:
            aside, path = self._aside.pop()
            aside.replace(path)

    def close(self) -> None:
        """Ends the processes that run tests."""
        for each in self._warm.values():
            each.close()
        self._warm.clear()

    def collect(self, tests: str) -> None:
        """Has a file of tests imported, so that plants in functions need no imports of their own. Before a plant."""
        path = tests.partition(" -k ")[0]
        if path not in self._collected:
            self._collected[path] = self._process(hot=True).collect(path)

    def _process(self, hot: bool) -> Warm:
        if hot not in self._warm:
            source = str(self.folder / "src")
            environment = {**os.environ, "PYTHONPATH": source, "PYTHONDONTWRITEBYTECODE": "1"}
            self._warm[hot] = Warm(self.folder, environment, hot, self._imported)
        return self._warm[hot]

    def _pytest(self, path: str, words: list[str], log: Path) -> int | str:
        """In the hot process where that can be, else in the cold one: tests may fail in the hot one unplanted too."""
        if self._texts is not None and self._collected.get(path):
            answer = self._process(hot=True).pytest(words, log, _TIMEOUT_S, **self._texts)
            if answer in (0, 5) or (answer != COLD and self._passes_hot(path, words)):
                return answer
        return self._process(hot=False).pytest(words, log, _TIMEOUT_S)

    def _passes_hot(self, path: str, words: list[str]) -> bool:
        """Whether the tests pass unplanted where pytest's capture was there at import; else the cold one has them."""
        if path not in self._passing:
            answer = self._process(hot=True).pytest(words, Path(os.devnull), _TIMEOUT_S)
            self._passing[path] = self._collected[path] = answer in (0, 5)
        return self._passing[path]

    def run(self, tests: str, log: Path, tier: str = "") -> Ran:
        """pytest on files or folders, which may be followed by a choice: `a_test.py -k names`."""
        path, _, choice = tests.partition(" -k ")
        words = ["-q", "-x", "-p", "no:cacheprovider", *path.split()]
        words += ["-k", choice] if choice else []
        words += ["--tier", tier] if tier else []
        log.parent.mkdir(parents=True, exist_ok=True)
        size_before = log.stat().st_size if log.exists() else 0
        status = self._pytest(path, words, log.absolute())
        if status == LATE:
            return Ran(True, f"{path}: no end within {_TIMEOUT_S} s")
        output = log.read_bytes()[size_before:].decode(errors="replace")
        lines = [line for line in output.splitlines() if line.strip()]
        failed_tests = (line.split()[1] for line in lines if line.startswith(("FAILED ", "ERROR ")))
        # 5: no test was chosen.
        return Ran(status not in (0, 5), lines[-1] if lines else "", next(failed_tests, ""))
