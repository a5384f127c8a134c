# SPDX-License-Identifier: BSD-3-Clause
"""What executorch.h declares, as data. The header keeps to a small part of C: anything else is an error here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

HEADER = Path(__file__).resolve().parents[1] / "executorch.h"
TABLE = "ExecuTorchApi"


@dataclass(frozen=True)
class Variable:
    """A member or a parameter; `type` is a C type, "char const*" as "const char*", or a Function."""

    name: str
    type: str | Function


@dataclass(frozen=True)
class Function:
    result: str
    parameters: tuple[Variable, ...]


@dataclass(frozen=True)
class Struct:
    name: str
    members: tuple[Variable, ...]


@dataclass(frozen=True)
class Header:
    version: int
    handles: tuple[str, ...]
    constants: tuple[tuple[str, int], ...]
    callbacks: tuple[tuple[str, Function], ...]
    structs: tuple[Struct, ...]  # the table is the last

    @property
    def table(self) -> Struct:
        return self.structs[-1]


FUNCTION = re.compile(r"(?P<result>[\w \*]+?)\(\*(?P<name>\w+)\)\((?P<parameters>.*)\)")
VARIABLE = re.compile(r"(?P<type>.*[ \*])(?P<name>\w+)")


def read(path: Path = HEADER) -> Header:
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    version = int(re.findall(r"#define EXECUTORCH_API_VERSION (\d+)", text)[0])
    text = " ".join(line for line in text.splitlines() if not line.startswith("#"))
    constants = [
        (name.strip(), int(value, 0))
        for body in re.findall(r"enum \w+ \{(.*?)\}", text)
        for name, value in (each.split("=") for each in body.split(","))
    ]
    callbacks = [
        (found["name"], _function(found))
        for each in re.findall(r"typedef ([^;{}]*\(\*\w+\)\([^;{}]*\));", text)
        if (found := FUNCTION.fullmatch(_plain(each)))
    ]
    structs = [
        Struct(name, tuple(_variable(each) for each in body.split(";") if each.strip()))
        for body, name in re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", text)
    ]
    assert structs[-1].name == TABLE
    handles = re.findall(r"typedef uint64_t (\w+);", text)
    return Header(version, tuple(handles), tuple(constants), tuple(callbacks), tuple(structs))


def _plain(text: str) -> str:
    """One blank between words, none before a star."""
    return re.sub(r"\s*\*", "*", " ".join(text.split())).replace("(*", " (*").replace("  ", " ")


def _variable(text: str) -> Variable:
    plain = _plain(text)
    function = FUNCTION.fullmatch(plain)
    if function:
        return Variable(function["name"], _function(function))
    found = VARIABLE.fullmatch(plain.replace("*", "* ").replace("* *", "**"))
    if found is None:
        raise ValueError(f"expected a declaration, found {text!r}")
    return Variable(found["name"], " ".join(found["type"].split()))


def _function(found: re.Match[str]) -> Function:
    parameters = [each for each in found["parameters"].split(",") if each.strip() != "void"]
    return Function(found["result"].strip(), tuple(_variable(each) for each in parameters))
