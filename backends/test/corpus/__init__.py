# SPDX-License-Identifier: BSD-3-Clause
"""The one corpus: modules and functions with inputs, tolerances and dynamic sizes, which every driver runs: kernels,
each backend's flows (backends/test/suite), the C++ runtime, upstream's.

A row is a line in the module of its family; a module says its families in FAMILIES."""

from __future__ import annotations

import functools
import importlib
from dataclasses import replace

import torch

from executorch.backends.test.corpus.row import Row

_MODULES = (
    "layers",
    "functions",
    "mathematics",
    "convolutions",
    "calls",
    "lookalikes",
    "networks",
    "drawn",
)
# Families of whole networks; the others are operators.
NETWORKS = frozenset({"networks", "drawn networks"})


@functools.cache
def rows() -> tuple[Row, ...]:
    """All, family after family; with the same weights in every process that has not imported a family before."""
    found: list[Row] = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        for name in _MODULES:
            module = importlib.import_module(f"{__name__}.{name}")
            for family, members in module.FAMILIES.items():
                found += [replace(row, family=family) for row in members]
    return tuple(found)


def sample() -> list[Row]:
    """One row of each family."""
    by_family: dict[str, list[Row]] = {}
    for row in rows():
        by_family.setdefault(row.family, []).append(row)
    return [members[len(members) // 2] for members in by_family.values()]
