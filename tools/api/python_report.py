# SPDX-License-Identifier: BSD-3-Clause
"""Compares the Python listings with our modules by import and introspection."""

import ast
import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any

from executorch.tools.api.listing import Row, read_python
from executorch.tools.api.verdict import Verdict

_DEF = re.compile(r"`(?P<name>\w+)\((?P<params>.*)\)(?: -> .*)?`")


def _parameter_names(text: str) -> list[str]:
    """Names with their kind marks (`*`, `/`, `*args`, `**kwargs`) of a listed parameter list."""
    names, depth, current, quote = [], 0, "", ""
    for char in text + ",":
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            if found := re.match(r"\s*(\*{0,2}\w*|/)", current):
                names.append(found[1])
            current = ""
        else:
            current += char
    return [n for n in names if n]


def _parameters(obj: Any) -> list[inspect.Parameter] | None:
    try:
        parameters = inspect.signature(obj).parameters.values()
    except (ValueError, TypeError):
        return None
    return [p for p in parameters if p.name not in {"self", "cls"}]


_MARKS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def _compare(row: Row, obj: Any, params: str, cut: bool) -> Verdict:
    """Exists: every call that the listed signature allows is one here, too. Ours may take more."""
    ours = _parameters(obj)
    if ours is None:
        return Verdict(row, "exists")
    named = _parameter_names(params)
    if named[:1] == ["self"] and not row.scope and inspect.isfunction(obj):
        ours = ours[1:]  # of a function outside of classes the first one, given by place
    listed = [n for n in named if n not in {"*", "/", "self", "cls"}]
    if listed == ["*args", "**kwargs"]:
        return Verdict(row, "exists", "the listed signature does not say what it takes")
    if not listed and inspect.isclass(obj) and not inspect.isfunction(obj.__init__):
        return Verdict(row, "exists", "made by __new__, whose arguments the listing does not show")
    listed = listed[:-1] if cut else listed
    mine = [_MARKS.get(p.kind, "") + p.name for p in ours]
    further = ours[len(listed) :]
    takes_fewer = cut or all(p.kind in _MARKS or p.default is not p.empty for p in further)
    takes_any = {p.kind for p in ours} >= set(_MARKS) and len(ours) == len(_MARKS)
    if takes_any or (mine[: len(listed)] == listed and takes_fewer):
        return Verdict(row, "exists")
    return Verdict(row, "differs", f"ours: ({', '.join(mine)})")


def judge(row: Row, module: ModuleType) -> Verdict:
    """What `module` has of a listed row."""
    text = row.text
    if text.startswith("("):
        return Verdict(row, "exists", "nothing listed")
    plain = re.match(r"(?:name|native) `?(\w+)", text)
    if plain:
        return Verdict(row, "exists" if hasattr(module, plain[1]) else "missing")
    owner: Any = getattr(module, row.scope, None) if row.scope else module
    if owner is None:
        return Verdict(row, "missing", f"no {row.scope}")
    if found := re.match(r"property `(\w+)`", text):
        return Verdict(row, "exists" if hasattr(owner, found[1]) else "missing")
    enum = re.match(r"enum `(\w+)\([\w, ]+\)`: (.*)$", text)
    if enum:
        return _judge_enum(row, getattr(module, enum[1], None), enum[2])
    cut = "…" in text
    name = re.search(r"`(\w+)\(", text)
    if name is None:
        return Verdict(row, "missing", "listing line not understood")
    obj = (
        inspect.getattr_static(owner, name[1], None) if row.scope else getattr(owner, name[1], None)
    )
    if obj is None and row.scope:
        obj = getattr(owner, name[1], None)
    if obj is None:
        return Verdict(row, "missing")
    obj = obj.__func__ if isinstance(obj, staticmethod | classmethod) else obj
    full = _DEF.search(text)
    params = full["params"] if full else text[text.index("(") + 1 :]
    return _compare(row, obj, params.replace("...", "") if params == "..." else params, cut)


def _judge_enum(row: Row, obj: Any, listed: str) -> Verdict:
    if obj is None:
        return Verdict(row, "missing")
    members = re.findall(r"(\w+)=(-?\d+|'[^']*')", listed)
    wrong = [
        f"{name}={value}"
        for name, value in members
        if name not in obj.__members__ or obj[name].value != ast.literal_eval(value)
    ]
    return (
        Verdict(row, "differs", "wrong or absent: " + ", ".join(wrong))
        if wrong
        else Verdict(row, "exists")
    )


def report(listings: list[Path]) -> list[Verdict]:
    verdicts: list[Verdict] = []
    modules: dict[str, ModuleType | str] = {}
    for row in [row for path in listings for row in read_python(path)]:
        if row.unit not in modules:
            try:
                modules[row.unit] = importlib.import_module(row.unit)
            except ImportError as error:
                modules[row.unit] = str(error)
        module = modules[row.unit]
        if isinstance(module, str):
            verdicts.append(Verdict(row, "missing", f"no such module: {module}"))
        else:
            verdicts.append(judge(row, module))
    return verdicts
