# SPDX-License-Identifier: BSD-3-Clause
"""Holds the tables of what other people's code imports and includes (test/api/*.tsv) against this tree.

Each row has the number of files that use the name, so that the report can weigh it.
"""

import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from executorch.tools.api.listing import Row
from executorch.tools.api.python_report import judge
from executorch.tools.api.verdict import Verdict

_ATTRIBUTE = re.compile(r"(?P<name>[A-Za-z]\w*)(?:: .*| = .*)?$")
_METHOD = re.compile(r"(?P<name>[A-Za-z]\w*|__init__|__call__)\((?P<params>.*?)\)(?: -> .*)?$")


@dataclass(frozen=True)
class Used:
    """A name or header, how many files use it, and what became of it here."""

    files: int
    verdict: Verdict


_DEEP = ("backends", "examples", "extension")


def area_of(unit: str) -> str:
    """`exir`, `backends.xnnpack` of a module; `runtime`, `extension.module` of a header."""
    parts = re.split(r"[./]", re.sub(r"^executorch[./]", "", unit))
    return ".".join(parts[: 2 if parts[0] in _DEEP else 1])


def _rows(path: Path) -> Iterator[list[str]]:
    for line in path.read_text().splitlines()[1:]:
        yield line.split("\t")


def used_headers(table: Path, include_dirs: list[Path]) -> list[Used]:
    found = []
    for files, header in _rows(table):
        exists = any((root / header).is_file() for root in include_dirs)
        row = Row(header, "", header)
        found.append(Used(int(files), Verdict(row, "exists" if exists else "missing")))
    return found


def used_names(table: Path) -> list[Used]:
    found = []
    for files, module, name, what in _rows(table):
        found.append(Used(int(files), _judge_name(module, name, what)))
    return found


def _imported(module: str) -> ModuleType | str:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        return f"no such module: {error}"


def _judge_name(module: str, name: str, what: str) -> Verdict:
    row = Row(module, "", name)
    home = _imported(module)
    if isinstance(home, str):
        return Verdict(row, "missing", home)
    if name and not hasattr(home, name):
        inner = _imported(f"{module}.{name}")
        return Verdict(row, "missing" if isinstance(inner, str) else "exists")
    differing = [
        f"{each.row.text} {each.note}" for each in _members(home, name, what)
        if each.state != "exists"
    ]  # fmt: skip
    return Verdict(row, "differs" if differing else "exists", "; ".join(differing))


def _members(home: ModuleType, name: str, what: str) -> Iterator[Verdict]:
    """Of a function its parameters; of a class its public methods and attributes."""
    function = re.match(r"def (\(.*?\))(?: -> .*)?$", what)
    if function:
        yield judge(Row(home.__name__, "", f"`{name}{function[1]}`"), home)
    kind = re.match(r"(?:@[\w.()=, ]+ )*class\([^()]*\) ", what)
    owner = getattr(home, name, None)
    if kind is None or not isinstance(owner, type):
        return
    for text in what[kind.end() :].split("; "):
        if method := _METHOD.match(text):
            yield _judge_method(owner, home, name, method)
        elif attribute := _ATTRIBUTE.match(text):
            row = Row(home.__name__, name, attribute["name"])
            yield Verdict(row, "exists" if _has(owner, attribute["name"]) else "missing", "absent")


def _judge_method(owner: Any, home: ModuleType, name: str, method: re.Match[str]) -> Verdict:
    row = Row(home.__name__, name, f"`{method['name']}({method['params']})`")
    if method["name"] == "__init__":
        return judge(Row(row.unit, "", f"`{name}({method['params']})`"), home)
    if not _has(owner, method["name"]):
        return Verdict(row, "missing", "absent")
    if not hasattr(owner, method["name"]):
        return Verdict(row, "exists", "declared for every object")
    return judge(row, home)


def _has(owner: type, name: str) -> bool:
    """As a field, as an attribute, or declared with its type for every object."""
    declared = {each for kind in owner.__mro__ for each in getattr(kind, "__annotations__", ())}
    return name in declared or hasattr(owner, name)
