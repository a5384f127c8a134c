# SPDX-License-Identifier: BSD-3-Clause
"""Reads the listings of public names (test/api/*.md) into plain rows.

A listing is a Markdown file: `## <header or module>`, then items. C++ items stand under `- in <scope>`;
Python items are `class X(...)`, `f(...)`, `enum E(...)`, indented methods and properties.
"""

import re
from dataclasses import dataclass
from pathlib import Path

_ITEM = re.compile(r"^(?P<indent> *)- (?P<text>.*)$")


@dataclass(frozen=True)
class Row:
    unit: str  # header or module
    scope: str  # C++ scope, or Python class; "" for module level
    text: str  # the declaration as listed


def read_cpp(path: Path) -> list[Row]:
    rows: list[Row] = []
    unit = scope = ""
    for line in path.read_text().splitlines():
        if line.startswith("## "):
            unit = line[3:].strip()
        elif item := _ITEM.match(line):
            text = item["text"]
            if not item["indent"]:
                scope = text.removeprefix("in ").strip("`")
            elif text.startswith("enumerators:"):
                rows += [
                    Row(unit, scope, f"enumerator {name}")
                    for name in re.findall(r"`([^`]+)`", text)
                ]
            else:
                rows.append(Row(unit, scope, text.strip("`")))
    return rows


def read_python(path: Path) -> list[Row]:
    rows: list[Row] = []
    unit = scope = ""
    for line in path.read_text().splitlines():
        if line.startswith("## "):
            unit, scope = line[3:].strip(), ""
        elif item := _ITEM.match(line):
            text = item["text"]
            if text.startswith("also importable here:"):
                rows += [Row(unit, "", f"name {name}") for name in re.findall(r"`([^`]+)`", text)]
                continue
            if not item["indent"]:
                scope = ""
            rows.append(Row(unit, scope, text))
            if found := re.search(r"class `(\w+)", text):
                scope = found[1]
    return rows
