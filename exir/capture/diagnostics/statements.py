# SPDX-License-Identifier: BSD-3-Clause
"""The statement at a line of Python, and statements written anew."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from executorch.exir.capture.diagnostics.places import Place


@dataclass(frozen=True)
class Code:
    """`text` instead of the lines first to last of a file; before the export where `lines` is None."""

    text: str
    lines: tuple[int, int] | None = None


@dataclass(frozen=True)
class Statement:
    """`block`: the statements that it is one of; `function`: whose they are."""

    node: ast.stmt
    block: Sequence[ast.stmt]
    function: ast.FunctionDef
    text: str

    @property
    def following(self) -> ast.stmt | None:
        return next(iter(self.block[self.block.index(self.node) + 1 :]), None)

    def source(self, first: int, last: int) -> str:
        return "\n".join(self.text.splitlines()[first - 1 : last])

    def instead(self, lines: Sequence[str], last: ast.stmt | None = None) -> Code | None:
        """Of the statement, or of all from it to `last`. None where others stand in its lines, and it needs several."""
        end = last or self.node
        rows = self.text.splitlines()
        last_row = end.end_lineno or end.lineno
        before = rows[self.node.lineno - 1].encode()[: self.node.col_offset].decode()
        behind = rows[last_row - 1].encode()[end.end_col_offset :].decode().strip()
        if behind and not behind.startswith("#"):
            return None
        if before.strip():
            text = f"{before}{lines[0]}" if len(lines) == 1 else ""
        else:
            text = textwrap.indent("\n".join(lines), before)
        return Code(text, (self.node.lineno, last_row)) if text else None


def statement_at(place: Place) -> Statement | None:
    try:
        text = Path(place.file).read_text()
        tree = ast.parse(text)
    except (OSError, SyntaxError, UnicodeDecodeError):
        return None
    found = None
    for function, block in _blocks(tree):
        for node in block:
            if node.lineno <= place.line <= (node.end_lineno or node.lineno):
                found = _inner_of(found, Statement(node, block, function, text), place.line)
    return found


def _inner_of(outer: Statement | None, inner: Statement, line: int) -> Statement:
    """The innermost, but for the body of `if test: return x`, which stands in the line of its test."""
    if outer is None or not isinstance(outer.node, ast.If | ast.While):
        return inner
    is_body = outer.node.lineno == line and inner.node in outer.node.body
    return outer if is_body else inner


def _blocks(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef, list[ast.stmt]]]:
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            yield from _inner(function, function.body)


def _inner(
    function: ast.FunctionDef, block: list[ast.stmt]
) -> Iterator[tuple[ast.FunctionDef, list[ast.stmt]]]:
    yield function, block
    for node in block:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue  # a function of its own
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(node, name, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                yield from _inner(function, inner)
        for handler in getattr(node, "handlers", ()):
            yield from _inner(function, handler.body)


class Replace(ast.NodeTransformer):
    """Expressions for which `change` gives another one."""

    def __init__(self, change: Callable[[ast.expr], ast.expr | None]) -> None:
        self._change = change
        self.count = 0

    def visit(self, node: ast.AST) -> ast.AST:
        node = self.generic_visit(node)
        changed = self._change(node) if isinstance(node, ast.expr) else None
        self.count += changed is not None
        return node if changed is None else changed


def rewritten(node: ast.stmt, change: Callable[[ast.expr], ast.expr | None]) -> str | None:
    """None when nothing changes."""
    copied = ast.parse(f"def f():\n{textwrap.indent(ast.unparse(node), '    ')}").body[0].body[0]
    replace = Replace(change)
    changed = replace.visit(copied)
    return ast.unparse(ast.fix_missing_locations(changed)) if replace.count else None


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def called(node: ast.expr) -> str:
    """The dotted name of what a call calls; empty for anything else."""
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def computes(block: Sequence[ast.stmt]) -> bool:
    """Whether statements do no more than give values to names, as functions of a graph."""
    nodes = [node for statement in block for node in ast.walk(statement)]
    return not any(
        isinstance(node, ast.Expr | ast.Raise | ast.Assert | ast.Delete | ast.Global | ast.With)
        or (isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load))
        for node in nodes
    )


def assigned(block: Sequence[ast.stmt]) -> list[str]:
    """Names that statements give values to, in order."""
    return _names(block, ast.Store)


def read(nodes: Sequence[ast.AST]) -> list[str]:
    """Names whose values are read, in order."""
    return _names(nodes, ast.Load)


def _names(nodes: Sequence[ast.AST], context: type[ast.expr_context]) -> list[str]:
    names = [
        node.id
        for each in nodes
        for node in ast.walk(each)
        if isinstance(node, ast.Name) and isinstance(node.ctx, context)
    ]
    return list(dict.fromkeys(names))


def locals_of(function: ast.FunctionDef, before: int) -> set[str]:
    """Parameters but the first (self), and names given values above a line."""
    parameters = [each.arg for each in (*function.args.posonlyargs, *function.args.args)][1:]
    above = [
        node for node in ast.walk(function) if isinstance(node, ast.stmt) and node.lineno < before
    ]
    above = [node for node in above if node is not function]
    return {*parameters, *(each.arg for each in function.args.kwonlyargs), *assigned(above)}
