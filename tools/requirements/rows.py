# SPDX-License-Identifier: BSD-3-Clause
"""Reads the requirement tables, the marks in tests, and the rulings (superseded, waived)."""

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import yaml

_TABLE_ROW = re.compile(r"^\|\s*(?P<id>[A-Z]+-C?\d+)\s*\|(?P<rest>.*)\|\s*$")
_RANGE = re.compile(r"^([A-Z]+-C?)(\d+)(?:\.\.(\d+))?$")
_CPP_MARK = re.compile(r"//\s*req:\s*(.+)$", re.M)
_PY_MARK = re.compile(r"(?:mark\.req|\breq)\(\s*((?:\"[A-Z]+-C?\d+\"\s*,?\s*)+)\)")
_SKIPPED = {".git", ".venv", "third-party", "build", "src"}


@dataclass(frozen=True)
class Requirement:
    id: str
    area: str  # the table's file, such as 01-runtime-core
    text: str  # the row's first column after the id


def read_tables(folder: Path) -> list[Requirement]:
    rows = []
    for path in sorted(folder.glob("[0-9]*.md")):
        for line in path.read_text().splitlines():
            if found := _TABLE_ROW.match(line):
                rows.append(
                    Requirement(found["id"], path.stem, found["rest"].split("|")[0].strip())
                )
    return rows


def expand(ids: str) -> list[str]:
    """`RT-001, RT-010..012` -> the single ids."""
    out = []
    for word in re.split(r"[,\s]+", ids.strip()):
        found = _RANGE.match(word)
        if found:
            last = int(found[3] or found[2])
            out += [f"{found[1]}{n:0{len(found[2])}d}" for n in range(int(found[2]), last + 1)]
    return out


def test_marks(root: Path) -> dict[str, list[str]]:
    """Row id -> test files that name it."""
    marks: dict[str, list[str]] = defaultdict(list)
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if (
            relative.parts[0] in _SKIPPED
            or relative.parts[0].startswith("cmake-out")
            or not path.is_file()
        ):
            continue
        if path.suffix in {".cpp", ".cc"}:
            found = [
                i
                for ids in _CPP_MARK.findall(path.read_text(errors="replace"))
                for i in expand(ids)
            ]
        elif (
            path.name.endswith("_test.py")
            or path.name.startswith("test_")
            or "test" in relative.parts[:-1]
        ):
            if path.suffix != ".py":
                continue
            found = [
                i
                for ids in _PY_MARK.findall(path.read_text())
                for i in re.findall(r"[A-Z]+-C?\d+", ids)
            ]
        else:
            continue
        for row in dict.fromkeys(found):
            marks[row].append(str(relative))
    return marks


def read_rulings(path: Path) -> dict[str, str]:
    """id -> reason, from a list of {rows: "RT-019, RT-020", why: ...}."""
    entries = yaml.safe_load(path.read_text()) or []
    return {row: entry["why"] for entry in entries for row in expand(entry["rows"])}
