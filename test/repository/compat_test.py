# SPDX-License-Identifier: BSD-3-Clause
"""Modules that are here for names of documents alone are marked, and nothing of ours needs them.

`# compat` is the second line of such a module, behind its licence. What it has beside names repeats nothing: it calls
what the product runs."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from executorch.test.repository.sources import (
    ROOT,
    imports,
    is_compat,
    is_test,
    module_of,
    with_suffix,
)

# What hands names on to users: no use.
FOR_USERS = frozenset(
    {
        "backends.xnnpack",
        "exir.capture._names",
        "exir.passes",
        "exir.program",
    }
)
# Where whatever nobody of ours imports is marked.
MARKED = ("backends/", "exir/")
# What is found by its name, and what is there to be used by others.
FOUND_BY_NAME = ("backend", "payload_reader", "language_models", "operator_page", "__main__")
LIBRARIES = {
    "backends/transforms/": "passes for backends, also those of others",
    "backends/aoti/": "what backends of AOTInductor have in common, also those of others",
    "backends/apple/metal/": "names of a backend that compiles on a Mac alone",
    "backends/cuda/": "names of a backend that compiles where a GPU is",
    "backends/skeleton/": "a backend to copy",
    "backends/skeleton_compiler/": "a backend to copy",
    "backends/skeleton_kernels/": "a backend to copy",
}


@functools.cache
def users() -> dict[str, set[str]]:
    """By module of ours, tests aside, the modules of ours that import it or, a manifest, name it."""
    paths = {module_of(path): path for path in with_suffix(".py") if not is_test(path)}
    found: dict[str, set[str]] = {module: set() for module in paths}
    for module, path in paths.items():
        for _, imported in imports(path):
            name = imported.removeprefix("executorch.")
            if name in found and name != module:
                found[name].add(module)
        if path.name == "backend.py":
            for name in re.findall(r'"([\w.]+):\w+"', (ROOT / path).read_text()):
                found.get(f"{module.removesuffix('backend')}{name}", set()).add(module)
    return found


@functools.cache
def marked() -> frozenset[str]:
    paths = [path for path in with_suffix(".py") if not is_test(path)]
    return frozenset(module_of(path) for path in paths if is_compat(path))


def test_nothing_of_ours_imports_what_is_for_users_alone() -> None:
    assert len(marked()) > 40
    offences = [
        f"{user} imports {module}, which is marked # compat: import what that calls, or take the mark out"
        for module in sorted(marked())
        for user in sorted(users()[module] - marked() - FOR_USERS)
    ]
    assert not offences, "\n".join(offences)


def _is_found_by_name(path: Path) -> bool:
    return path.stem in FOUND_BY_NAME or "__main__" in (ROOT / path).read_text()


def test_what_only_users_import_is_marked() -> None:
    unmarked = [
        f"{path}: nothing of ours imports it: write # compat behind its licence, or delete it"
        for path in with_suffix(".py")
        if str(path).startswith(MARKED) and not str(path).startswith(tuple(LIBRARIES))
        if path.name != "__init__.py" and not is_test(path) and not _is_found_by_name(path)
        if module_of(path) not in marked() and not users()[module_of(path)] - marked() - FOR_USERS
    ]
    assert not unmarked, "\n".join(unmarked)


def test_a_mark_stands_in_the_second_line() -> None:
    assert is_compat(Path("exir/passes/remove_noop_pass.py"))
    assert not is_compat(Path("exir/passes/spec_prop_pass.py"))
    other = [
        str(path)
        for path in with_suffix(".py")
        if not is_compat(path) and "\n# compat\n" in (ROOT / path).read_text()
    ]
    assert not other, other
