# SPDX-License-Identifier: BSD-3-Clause
"""What every public signature of the package takes, and which of it nothing reads."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from executorch.test.repository.sources import ROOT, with_suffix

PACKAGES = (
    "backends", "codegen", "devtools", "exir", "export", "extension", "kernels", "runtime", "schema",
)  # fmt: skip
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Unread:
    """`where`: path, class and function; `name`: a parameter that the body does not read, a field or an attribute made
    from a parameter that no source reads."""

    where: str
    name: str


@functools.cache
def sources() -> dict[Path, ast.Module]:
    """Python of the package, tests aside."""
    return {
        path: ast.parse((ROOT / path).read_text())
        for path in with_suffix(".py")
        if not _is_test(path)
    }


def _is_test(path: Path) -> bool:
    return path.name.endswith("_test.py") or path.name == "conftest.py" or "test" in path.parts


@functools.cache
def _read_anywhere() -> frozenset[str]:
    """Names of attributes that some source reads, and all strings (getattr, tables of fields)."""
    nodes = [node for tree in sources().values() for node in ast.walk(tree)]
    loads = {n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)}
    texts = {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return frozenset(loads | texts)


def unread() -> list[Unread]:
    return [
        found
        for path, tree in sources().items()
        if path.parts[0] in PACKAGES
        for found in _in(path.as_posix(), tree)
    ]


def _in(place: str, node: ast.AST) -> Iterator[Unread]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef) and _is_public(child.name):
            yield from _of_class(f"{place}:{child.name}", child)
            yield from _in(f"{place}:{child.name}", child)
        elif isinstance(child, Function) and _is_public(child.name):
            yield from _of_function(f"{place}:{child.name}", child)
        elif isinstance(child, ast.If | ast.Try | ast.With):
            yield from _in(place, child)


def _is_public(name: str) -> bool:
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))


def _of_function(place: str, function: Function) -> Iterator[Unread]:
    if _is_declaration(function):
        return
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    read = {
        n.id
        for part in function.body
        for n in ast.walk(part)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    }
    for argument in every:
        if argument is not None and argument.arg not in {"self", "cls", *read}:
            yield Unread(place, argument.arg)


def _is_declaration(function: Function) -> bool:
    """Abstract, overloaded, or nothing but a docstring, a constant or an error: others write the body."""
    if any(
        "overload" in ast.unparse(d) or "abstract" in ast.unparse(d)
        for d in function.decorator_list
    ):
        return True
    body = [
        part
        for part in function.body
        if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
    ]
    return not body or (len(body) == 1 and isinstance(body[0], ast.Pass | ast.Raise))


def _of_class(place: str, kind: ast.ClassDef) -> Iterator[Unread]:
    is_data = any("dataclass" in ast.unparse(decorator) for decorator in kind.decorator_list)
    for part in kind.body:
        if is_data and isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            if part.target.id not in _read_anywhere():
                yield Unread(place, part.target.id)
        elif isinstance(part, ast.FunctionDef) and part.name == "__init__":
            yield from (Unread(place, name) for name in _kept(part) if name not in _read_anywhere())


def _kept(init: ast.FunctionDef) -> Iterator[str]:
    """Attributes that are a parameter and nothing else."""
    parameters = {argument.arg for argument in [*init.args.args, *init.args.kwonlyargs]}
    for node in ast.walk(init):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            several = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
            pairs = (
                zip(target.elts, node.value.elts, strict=True)
                if several
                else [(target, node.value)]
            )
            for left, right in pairs:
                if (
                    isinstance(left, ast.Attribute)
                    and isinstance(right, ast.Name)
                    and right.id in parameters
                ):
                    yield left.attr
