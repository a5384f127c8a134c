# SPDX-License-Identifier: BSD-3-Clause
"""What is planted: changes of a source file, found in its syntax tree or listed by hand.

A plant replaces the text of one place. Its name stays the same when lines move: the file, the function or row around
the place, the kind of change and the text that goes; of several alike, the place among them.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeGuard


@dataclass(frozen=True)
class Plant:
    """`old` at byte `start` of `file` becomes `new`."""

    file: str
    start: int
    old: str
    new: str
    where: str  # the function, constant or row around it
    change: str  # what is done, such as "condition always true"

    @property
    def name(self) -> str:
        words = " ".join(self.old.split())
        return f"{self.file}:{self.where}: {self.change}: {words[:90]}"

    def in_text(self, text: str) -> str:
        data = text.encode()
        found = data[self.start : self.start + len(self.old.encode())]
        if found != self.old.encode():
            raise ValueError(f"{self.name}: the file has {found!r} there; make the plants again")
        rest = data[self.start + len(found) :]
        return (data[: self.start] + self.new.encode() + rest).decode()


class _NamedCall(ast.Call):
    func: ast.Name


Mutator = Callable[[ast.AST], Iterator[tuple[ast.AST, str, str]]]


def _calls(node: ast.AST, *names: str) -> TypeGuard[_NamedCall]:
    """Whether a call, with arguments, is of one of these functions."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in names
        and bool(node.args)
    )


def conditions(node: ast.AST) -> Iterator[tuple[ast.AST, str, str]]:
    """`Condition(test, reason)`: the test always holds."""
    if _calls(node, "Condition", "TensorCondition"):
        yield node.args[0], "(lambda *_: True)", "condition always true"


def guards(node: ast.AST) -> Iterator[tuple[ast.AST, str, str]]:
    """`if x: return ...`, `raise` or `continue` without an else: never taken."""
    leaves = (ast.Return, ast.Raise, ast.Continue)
    if isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], leaves):
        yield node.test, "False", "guard never taken"


def operands(node: ast.AST) -> Iterator[tuple[ast.AST, str, str]]:
    """`a and b`, `a or b`: one of them goes."""
    if isinstance(node, ast.BoolOp):
        neutral = "True" if isinstance(node.op, ast.And) else "False"
        for value in node.values:
            yield value, neutral, f"operand of {'and' if neutral == 'True' else 'or'} gone"


_OTHER = {ast.LtE: "<", ast.Lt: "<=", ast.GtE: ">", ast.Gt: ">=", ast.Eq: "!=", ast.NotEq: "=="}
_SIGNS = {ast.LtE: "<=", ast.Lt: "<", ast.GtE: ">=", ast.Gt: ">", ast.Eq: "==", ast.NotEq: "!="}


def comparisons(node: ast.AST) -> Iterator[tuple[ast.AST, str, str]]:
    """`<=` becomes `<`, `==` becomes `!=`, and so on."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OTHER:
        sign = _SIGNS[type(node.ops[0])]
        new = f"({ast.unparse(node.left)} {_OTHER[type(node.ops[0])]} {ast.unparse(node.comparators[0])})"
        yield node, new, f"{sign} another"


def choices(node: ast.AST) -> Iterator[tuple[ast.AST, str, str]]:
    """`a if c else b`: always the other; `max` for `min`."""
    if isinstance(node, ast.IfExp):
        yield node.test, f"(not ({ast.unparse(node.test)}))", "the other choice"
    if _calls(node, "min", "max"):
        yield node.func, "max" if node.func.id == "min" else "min", "the other extreme"


def numbers(node: ast.AST) -> Iterator[tuple[ast.AST, str, str]]:
    """A number a little off: an integer of more than 1 by one, a float by 1 %."""
    if isinstance(node, ast.Constant) and type(node.value) is int and node.value > 1:
        yield node, str(node.value + 1), "one more"
    if isinstance(node, ast.Constant) and type(node.value) is float and node.value:
        yield node, repr(node.value * 1.01), "1 % more"


def entries(node: ast.AST) -> Iterator[tuple[ast.AST, str, str]]:
    """An entry of a module's dict or of a set or tuple of operators goes; at least two stay."""
    if isinstance(node, ast.Dict) and len(node.keys) > 2 and all(node.keys):
        for key in node.keys:
            yield key, f"('gone', {ast.unparse(key)})", "row gone"
    if isinstance(node, ast.Set) and len(node.elts) > 1:
        for item in node.elts:
            yield item, f"('gone', {ast.unparse(item)})", "row gone"


# Of dataclasses and zip: with the other setting a program that is right stays so.
_CHECKS = ("frozen", "kw_only", "compare", "strict")


def settings(node: ast.AST) -> Iterator[tuple[ast.AST, str, str]]:
    """A keyword's True becomes False."""
    value = node.value if isinstance(node, ast.keyword) and node.arg not in _CHECKS else None
    if isinstance(value, ast.Constant) and isinstance(value.value, bool):
        yield node, f"{node.arg}={not value.value}", "the other setting"


def in_python(root: Path, file: str, mutators: tuple[Mutator, ...]) -> Iterator[Plant]:
    """The plants of a file, in its order, each with a name of its own."""
    text = (root / file).read_text()
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(text)
    found = []
    for node, where in _within(tree, "module"):
        for mutate in mutators:
            for place, new, change in mutate(node):
                begin = starts[place.lineno - 1] + place.col_offset  # type: ignore[attr-defined]
                end = starts[place.end_lineno - 1] + place.end_col_offset  # type: ignore[attr-defined]
                old = text.encode()[begin:end].decode()
                found.append(Plant(file, begin, old, new, where, change))
    times = Counter[str]()
    for plant in sorted(dict.fromkeys(found), key=lambda plant: plant.start):
        times[plant.name] += 1
        count = times[plant.name]
        yield replace(plant, where=f"{plant.where} ({count})") if count > 1 else plant


def _within(node: ast.AST, where: str) -> Iterator[tuple[ast.AST, str]]:
    """Each node with the name of what it stands in; not annotations, docstrings and tests of types."""
    rows = isinstance(node, ast.Dict) and where != "module"
    row_of = {v: k for k, v in zip(node.keys, node.values, strict=True) if k} if rows else {}  # type: ignore[attr-defined]
    for child in ast.iter_child_nodes(node):
        name = where
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            name = child.name if where == "module" else f"{where}.{child.name}"
        elif isinstance(child, ast.Assign) and where == "module":
            name = ast.unparse(child.targets[0])
        elif isinstance(child, ast.AnnAssign) and where == "module":
            name = ast.unparse(child.target)
        elif child in row_of:
            name = f"{where}[{ast.unparse(row_of[child])}]"
        elif isinstance(child, (ast.Import, ast.ImportFrom, ast.JoinedStr)):
            continue
        yield child, name
        yield from _within(child, name)


def listed(root: Path, file: str, old: str, new: str, change: str) -> Plant:
    """A change by hand: `old` must stand in the file once."""
    text = (root / file).read_text()
    if text.count(old) != 1:
        raise ValueError(f"{file}: expected {old!r} once, found it {text.count(old)} times")
    return Plant(file, len(text[: text.index(old)].encode()), old, new, "listed", change)
