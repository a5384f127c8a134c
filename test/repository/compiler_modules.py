# SPDX-License-Identifier: BSD-3-Clause
"""The modules of the compiler, and which of them each imports."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

from executorch.test.repository.sources import ROOT, with_suffix

# Imports inside functions that point up, and why they may: the only ones that close a cycle.
UP = {
    (
        "exir.lowered_backend_module",
        "exir.program._managers",
    ): "a lowered module makes itself a program",
}

MADE_BY_THE_BUILD = frozenset({"exir.schema", "exir._native"})


def _modules() -> dict[str, Path]:
    paths = [p for p in with_suffix(".py") if p.parts[0] == "exir" and not _is_test(p)]
    return {".".join(p.with_suffix("").parts).removesuffix(".__init__"): p for p in paths}


def _is_test(path: Path) -> bool:
    return path.name.endswith("_test.py") or "test" in path.parts


def _imported(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """Modules of `known` that a file names in its imports, those inside functions too."""
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            module = node.module.removeprefix("executorch.")
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                yield inner if inner in known or inner in MADE_BY_THE_BUILD else module
        elif isinstance(node, ast.Import):
            yield from (alias.name.removeprefix("executorch.") for alias in node.names)


@functools.cache
def imported_modules() -> dict[str, set[str]]:
    """By module, what it imports of the compiler, inside functions too."""
    modules = _modules()
    return {
        name: {each for each in _imported(path, modules) if each in modules and each != name}
        for name, path in modules.items()
    }
