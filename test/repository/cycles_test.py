# SPDX-License-Identifier: BSD-3-Clause
"""The compiler's modules import each other in one direction."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from executorch.test.repository.sources import ROOT, with_suffix

# Imports inside functions that point up, and why they may: the only ones that close a cycle.
UP = {
    ("exir.lowered_backend_module", "exir.program._program"): "a lowered module makes itself a program",
    ("exir.pass_manager", "exir.program._programs"): "the package of programs imports pass managers",
    ("exir.program._program", "exir.program._single_program"): "older classes, under their old path",
    ("exir._serialize._flatbuffer", "exir._serialize._program"): "JSON of a program of any age",
    ("exir._serialize._flatbuffer", "exir._serialize._flatbuffer_program"): "JSON back to bytes",
}  # fmt: skip

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


def _graph() -> dict[str, set[str]]:
    modules = _modules()
    return {
        name: {each for each in _imported(path, modules) if each in modules and each != name}
        for name, path in modules.items()
    }


def test_imports_make_no_cycles() -> None:
    graph = _graph()
    for lower, upper in UP:
        assert upper in graph[lower], f"{lower} imports {upper} no more: take it out of UP"
        graph[lower].discard(upper)
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise AssertionError(f"a cycle of imports: {' <- '.join(error.args[1])}") from None


def test_each_exception_would_close_a_cycle() -> None:
    for edge in UP:
        graph = _graph()
        for lower, upper in UP:
            if (lower, upper) != edge:
                graph[lower].discard(upper)
        try:
            tuple(TopologicalSorter(graph).static_order())
        except CycleError:
            continue
        raise AssertionError(f"{edge} closes no cycle: take it out of UP")
