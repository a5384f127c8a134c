# SPDX-License-Identifier: BSD-3-Clause
"""Names of a program as names of a language: words that it keeps for itself, clashes, dots, nothing at all."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """What a language has taken: `keywords`, and names that the class's own text uses as members, types, arguments of
    methods (`locals`) and fields of results. `is_camel`: inputIds instead of input_ids."""

    keywords: Collection[str]
    is_camel: bool
    members: Collection[str] = ()
    types: Collection[str] = ()
    locals: Collection[str] = ()
    fields: Collection[str] = ()


@dataclass(frozen=True)
class Traits:
    """Of a language: what begins a comment of a line, PyTorch's names of its element types, whether inputs may lie in
    memory in another order than rows first, kinds of values that no input can be, whether classes have packages."""

    comment: str
    words: Words
    dtypes: frozenset[str]
    has_layouts: bool = True
    no_inputs: frozenset[str] = frozenset()
    has_packages: bool = False


def identifiers(
    names: Sequence[tuple[str, str]], words: Words, taken: Collection[str]
) -> list[str]:
    """One for each (name, what it is called without one), no two the same."""
    found: list[str] = []
    for name, otherwise in names:
        wanted = _identifier(name, otherwise, words)
        if wanted in words.keywords or wanted in taken:
            wanted += "_"
        number = 2
        base = wanted
        while wanted in found or wanted in taken or wanted in words.keywords:
            wanted = f"{base.rstrip('_')}{'' if words.is_camel else '_'}{number}"
            number += 1
        found.append(wanted)
    return found


def type_name(text: str, words: Words) -> str:
    """`my-model.v2` -> MyModelV2."""
    parts = re.findall(r"[A-Za-z0-9]+", text)
    name = "".join(part[0].upper() + part[1:] for part in parts) or "Program"
    if name[0].isdigit():
        name = f"Program{name}"
    return f"{name}Program" if name in words.types or name in words.keywords else name


def literal(text: str) -> str:
    """A text in double quotes, as Python, C++, Swift and TypeScript read it: what is printable stays as it is."""
    return json.dumps(text, ensure_ascii=False)


def snake(type_name: str) -> str:
    """MyModelV2 -> my_model_v2: for names of files."""
    return "_".join(re.findall(r"[a-z0-9]+|[A-Z]+[a-z0-9]*", type_name)).lower()


def _identifier(name: str, otherwise: str, words: Words) -> str:
    parts = re.findall(r"[A-Za-z0-9]+", name)
    if not parts or parts[0][0].isdigit():
        parts = [*re.findall(r"[A-Za-z0-9]+", otherwise), *parts]
    if not words.is_camel:
        return "_".join(parts)
    first = parts[0].lower() if parts[0].isupper() else parts[0][0].lower() + parts[0][1:]
    return first + "".join(part[0].upper() + part[1:] for part in parts[1:])
