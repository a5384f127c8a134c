# SPDX-License-Identifier: BSD-3-Clause
"""Backends of packages that are installed beside this one, which name their partitioner in the entry-point group
`executorch.backends`. (Their runtime halves: extension/pybindings/libraries.py.)"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from executorch.extension.pybindings.libraries import named

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "executorch.backends"
NO_BACKEND = "none"  # a name that no backend has


def backends() -> dict[str, EntryPoint]:
    """By name; none is imported."""
    return {point.name: point for point in named(GROUP)}


def partitioner(name: str) -> Any:
    """A new one of the backend; ValueError with what its package says when it cannot be made."""
    point = backends()[name]
    try:
        return point.load()()
    except Exception as error:
        raise ValueError(f"the backend {name} ({point.value}) cannot be used: {error}") from error
