# SPDX-License-Identifier: BSD-3-Clause
"""The compiler's modules import each other in one direction."""

from __future__ import annotations

from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter

from executorch.test.repository.compiler_modules import UP, imported_modules


def _without(edges: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    graph = {module: set(imported) for module, imported in imported_modules().items()}
    for lower, upper in edges:
        assert upper in graph[lower], f"{lower} imports {upper} no more: take it out of UP"
        graph[lower].discard(upper)
    return graph


def test_imports_make_no_cycles() -> None:
    graph = _without(UP)
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise AssertionError(f"a cycle of imports: {' <- '.join(error.args[1])}") from None


def test_each_exception_would_close_a_cycle() -> None:
    for edge in UP:
        graph = _without([other for other in UP if other != edge])
        try:
            tuple(TopologicalSorter(graph).static_order())
        except CycleError:
            continue
        raise AssertionError(f"{edge} closes no cycle: take it out of UP")
