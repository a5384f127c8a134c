# SPDX-License-Identifier: BSD-3-Clause
"""A copy of the tree that faults are planted in: files as links to the tree's own, but those that were changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from executorch.tools.planted.native import linked_again
from executorch.tools.planted.plants import Plant

_TIMEOUT_S = 900


@dataclass(frozen=True)
class Ran:
    """What the tests said."""

    failed: bool
    last_line: str


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

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder = root, folder
        self._aside: list[tuple[Path, Path]] = []  # (where a file is, where it belongs)
        if folder.exists():
            shutil.rmtree(folder)
        for name in _names(root):
            self._bring(name)

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
        self._keep(path)
        path.write_text(text)
        if native:
            linked_again(self.root, self.folder, plant.file, native, self._keep)

    def restore(self) -> None:
        while self._aside:
            aside, path = self._aside.pop()
            aside.replace(path)

    def run(self, tests: str, log: Path) -> Ran:
        """pytest on a file or folder, which may be followed by a choice: `a_test.py -k names`."""
        path, _, choice = tests.partition(" -k ")
        words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", path]
        words += ["-k", choice] if choice else []
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.folder / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a") as file:
            try:
                done = subprocess.run(
                    words, cwd=self.folder, env=environment, stdout=file, stderr=file,
                    timeout=_TIMEOUT_S, check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                return Ran(True, f"{path}: no end within {_TIMEOUT_S} s")
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
        # 5: no test was chosen.
        return Ran(done.returncode not in (0, 5), lines[-1] if lines else "")
