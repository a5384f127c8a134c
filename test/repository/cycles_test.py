# SPDX-License-Identifier: BSD-3-Clause
"""Modules import each other in one direction, imports inside functions counted."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from executorch.test.repository.compiler_modules import UP, imported_modules
from executorch.test.repository.sources import ROOT, is_test, module_of, with_suffix


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


def _run_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All but what types alone need."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            for other in node.orelse:
                yield other
                yield from _run_nodes(other)
        else:
            yield node
            yield from _run_nodes(node)


def _imported(path: Path, known: dict[str, Path]) -> set[str]:
    """A package that names are taken from is no module of its own here: its parts import each other's package."""
    found: set[str] = set()
    for node in _run_nodes(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            found |= {each.name.removeprefix("executorch.") for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            place = node.module.removeprefix("executorch.")
            inner = {f"{place}.{each.name}" for each in node.names}
            found |= {each if each in known else place for each in inner}
    return found & set(known) - {module_of(path)}


def test_the_whole_product_has_one_edge_that_closes_a_cycle() -> None:
    """That of UP: a type of one's own, a table or a function of its own module takes the place of any other."""
    modules = {module_of(path): path for path in with_suffix(".py") if not is_test(path)}
    graph = {name: _imported(path, modules) for name, path in modules.items()}
    for lower, upper in UP:
        graph[lower].discard(upper)
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise AssertionError(f"a cycle of imports: {' <- '.join(error.args[1])}") from None
