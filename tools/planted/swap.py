# SPDX-License-Identifier: BSD-3-Clause
"""Puts the functions of a changed source in the place of those that are in this process."""

from __future__ import annotations

import gc
import inspect
import os
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any


def _nested(code: CodeType) -> list[CodeType]:
    return [const for const in code.co_consts if isinstance(const, CodeType)]


def _own(code: CodeType) -> tuple[Any, ...]:
    """What the code does, whatever its lines are, but for functions inside."""
    consts = tuple(None if isinstance(c, CodeType) else (type(c), repr(c)) for c in code.co_consts)
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return (code.co_name, code.co_argcount, code.co_flags, code.co_code, *names, consts)


def _whole(code: CodeType) -> tuple[Any, ...]:
    return (*_own(code), *map(_whole, _nested(code)))


def _is_function(code: CodeType) -> bool:
    """Not a comprehension."""
    return not code.co_name.startswith("<") or code.co_name == "<lambda>"


def _differs_inside(old: CodeType, new: CodeType) -> bool:
    """Whether a function within a function differs: modules may keep what the outer one gave them."""
    pairs = zip(_nested(old), _nested(new), strict=False)
    changed = [(a, b) for a, b in pairs if _whole(a) != _whole(b)]
    return any(_is_function(a) or _differs_inside(a, b) for a, b in changed)


def _changed(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The outermost functions that differ. ValueError where what runs at import does."""
    if _own(old) != _own(new):
        raise ValueError("a module or a class differs outside of its functions")
    for before, after in zip(_nested(old), _nested(new), strict=True):
        if not before.co_flags & inspect.CO_OPTIMIZED:  # the body of a class
            yield from _changed(before, after)
        elif _whole(before) != _whole(after):
            if not _is_function(before):
                raise ValueError("a comprehension of the module differs, which ran at import")
            if _differs_inside(before, after):
                raise ValueError("a function differs that another one gives")
            yield before, after


def swapped(file: str, old: str, new: str) -> bool:
    """Whether all functions that differ between two texts of a file are here, and now do as the new text says."""
    try:
        before, after = (compile(t, file, "exec", dont_inherit=True) for t in (old, new))
        pairs = list(_changed(before, after))
    except ValueError:
        return False
    wanted = {(o.co_name, o.co_firstlineno, _whole(o)): n for o, n in pairs}
    here, found = os.path.realpath(file), set()
    same: dict[str, bool] = {}
    for each in gc.get_objects():
        if type(each) is not FunctionType:
            continue
        code = each.__code__
        name = code.co_filename
        if name not in same:
            same[name] = os.path.realpath(name) == here
        if not same[name]:
            continue
        key = (code.co_name, code.co_firstlineno, _whole(code))
        if key in wanted:
            try:
                each.__code__ = wanted[key]
            except ValueError:  # other free variables
                return False
            found.add(key)
    return bool(wanted) and found == set(wanted)
