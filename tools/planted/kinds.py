# SPDX-License-Identifier: BSD-3-Clause
"""What a kind of faults is, and a change of C++ that is listed by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from executorch.tools.planted.plants import Mutator, Plant, in_python, listed


@dataclass(frozen=True)
class Listed:
    """A change by hand of a file: `old` stands there once."""

    file: str
    old: str
    new: str
    change: str


@dataclass(frozen=True)
class Kind:
    """`tests` run in this order until one fails: those that are quick and near first; of a `tier`, those alone.
    `native` names the target of CMake whose module the tests load, and which is linked again with what was planted.
    `at_import`: modules keep what the functions give, as tables do, so that each run imports them."""

    name: str
    about: str
    tests: tuple[str, ...]
    files: tuple[str, ...] = ()
    changes: tuple[Mutator, ...] = ()
    listed: tuple[Listed, ...] = ()
    native: str = ""
    tier: str = ""
    at_import: bool = False

    def plants(self, root: Path) -> Iterator[Plant]:
        for file in self.files:
            yield from in_python(root, file, self.changes)
        for one in self.listed:
            yield listed(root, one.file, one.old, one.new, one.change)
