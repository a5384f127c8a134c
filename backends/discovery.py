# SPDX-License-Identifier: BSD-3-Clause
"""Finds the backends of this package: each folder with a `backend.py` whose BACKENDS say what is in it. Nothing else of
a backend is imported, so that light commands can ask."""

from __future__ import annotations

import functools
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import executorch.backends

if TYPE_CHECKING:
    from executorch.exir.backend.lowering.manifest import BackendManifest

# A folder of one vendor may have one for each of its backends, or one for all: then a module of that name below it is
# something else. `test` is what tests of backends share.
_PLACES = ("*/backend.py", "*/*/backend.py")
_SHARED = "test"


def folders() -> list[str]:
    """Below `executorch.backends`, such as xnnpack or apple.coreml."""
    return [
        ".".join(path.relative_to(root).parent.parts)
        for root in map(Path, executorch.backends.__path__)
        for pattern in _PLACES
        for path in sorted(root.glob(pattern))
        if _SHARED not in path.relative_to(root).parts[:-1]
        and (path.parents[1] == root or not (path.parents[1] / path.name).exists())
    ]


@functools.cache
def all_backends() -> dict[str, BackendManifest]:
    """By name, those for tests alone included."""
    found: dict[str, BackendManifest] = {}
    for folder in folders():
        for each in import_module(f"executorch.backends.{folder}.backend").BACKENDS:
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
