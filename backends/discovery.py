# SPDX-License-Identifier: BSD-3-Clause
"""Finds the backends of this package: each folder with a `backend.py` whose BACKENDS say what is in it. Nothing else of
a backend is imported, so that light commands can ask."""

from __future__ import annotations

import functools
import warnings
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import executorch.backends

if TYPE_CHECKING:
    from executorch.exir.backend.lowering.manifest import BackendManifest

# What tests of backends share, no backend.
_SHARED = "test"


def _with(file: str) -> list[str]:
    """Folders that have it, below `executorch.backends`; a vendor's folder may have one for each of its backends."""
    found = [
        path.relative_to(root).parts[: -len(Path(file).parts)]
        for root in map(Path, executorch.backends.__path__)
        for pattern in (f"*/{file}", f"*/*/{file}")
        for path in sorted(root.glob(pattern))
        if _is_its_own(path, len(Path(file).parts), root)
    ]
    return [".".join(parts) for parts in found if parts[0] != _SHARED]


def _is_its_own(path: Path, depth: int, root: Path) -> bool:
    """Where a vendor's folder has a `backend.py` for all, one below it is something else."""
    folder = path.parents[depth - 1]
    return folder.parent == root or not (folder.parent / "backend.py").exists()


def folders() -> list[str]:
    """Those with a `backend.py`, such as xnnpack or apple.coreml."""
    return _with("backend.py")


def modules(name: str) -> list[str]:
    """All that are called `name`, such as payload_reader, by their full names."""
    return [f"executorch.backends.{each}.{name}" for each in _with(name.replace(".", "/") + ".py")]


def imported(module: str) -> ModuleType:
    """One of these, without what the package of a deprecated backend tells its users."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return import_module(module)


@functools.cache
def all_backends() -> dict[str, BackendManifest]:
    """By name, those for tests alone included."""
    found: dict[str, BackendManifest] = {}
    for folder in folders():
        for each in imported(f"executorch.backends.{folder}.backend").BACKENDS:
            if each.name in found:
                raise ValueError(
                    f"two backends are called {each.name}: {found[each.name].package} and {each.package}; "
                    "rename one in its backend.py"
                )
            found[each.name] = each
    return found


def backends() -> dict[str, BackendManifest]:
    """By name, those that users have."""
    return {name: each for name, each in all_backends().items() if each.is_installed}


def language_models() -> dict[str, BackendManifest]:
    """By name, those that lower language models."""
    return {name: each for name, each in backends().items() if each.language_models}
