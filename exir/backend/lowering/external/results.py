# SPDX-License-Identifier: BSD-3-Clause
"""What compilations gave, by their keys, until it is taken. Compilers number what they make, so that compiling once
more would give other bytes for an equal program: nothing that waits is lost, whatever it takes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Generic, TypeVar

Refusal = TypeVar("Refusal")

ENTRIES = 256  # from which refusals, and payloads that were taken, go
SMALL = 1 << 20  # bytes of a payload that stays when it was taken
IN_MEMORY = 1 << 30  # bytes of payloads; older ones wait in files


class CompiledResults(Generic[Refusal]):
    """Payloads are bytes; what refuses a program is anything else. The files' folder goes with this object."""

    def __init__(self) -> None:
        self._found: dict[str, bytes | Path | Refusal] = {}
        self._waiting: set[str] = set()  # payloads that nobody has taken
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __contains__(self, key: str) -> bool:
        return key in self._found

    def refusal(self, key: str) -> Refusal | None:
        """None for a payload."""
        found = self._found[key]
        return None if isinstance(found, bytes | Path) else found

    def __setitem__(self, key: str, made: bytes | Refusal) -> None:
        self._found[key] = made
        if isinstance(made, bytes):
            self._waiting.add(key)
        settled = [each for each in self._found if each != key and each not in self._waiting]
        for old in settled[: max(0, len(self._found) - ENTRIES)]:
            self._drop(old)
        in_memory = [each for each, found in self._found.items() if isinstance(found, bytes)]
        total = sum(len(self._found[each]) for each in in_memory)
        for old in in_memory:
            if total <= IN_MEMORY or old == key:
                break
            total -= len(self._found[old])
            self._found[old] = self._file(old)

    def take(self, key: str) -> bytes | Refusal:
        """A large payload is the caller's from now on."""
        found = self._found[key]
        made = found.read_bytes() if isinstance(found, Path) else found
        self._waiting.discard(key)
        if isinstance(made, bytes) and len(made) > SMALL:
            self._drop(key)
        return made

    def clear(self) -> None:
        for key in list(self._found):
            self._drop(key)
        self._waiting.clear()

    def _drop(self, key: str) -> None:
        found = self._found.pop(key)
        if isinstance(found, Path):
            found.unlink()

    def _file(self, key: str) -> Path:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="executorch-compiled-")
        path = Path(self._folder.name) / key
        path.write_bytes(self._found[key])
        return path
