# SPDX-License-Identifier: BSD-3-Clause
"""Reads the requirement tables, the rulings on rows (superseded, waived, open), and which files name a row."""

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import yaml

_TABLE_ROW = re.compile(r"^\|\s*(?P<id>[A-Z]+-C?\d+)\s*\|(?P<rest>.*)\|\s*$")
_RANGE = re.compile(r"^([A-Z]+-C?)(\d+)(?:\.\.(\d+))?$")
_SECTIONS = re.compile(r"\b(\d{3})(?:-(\d{3}))?\b")
_CPP_MARK = re.compile(r"RecordProperty\(\s*\"req\",\s*\"([^\"]+)\"")
_PY_MARK = re.compile(r"(?:mark\.req|\brows=)\(\s*((?:\"[A-Z]+-C?\d+\"\s*,?\s*)+)\)")
_SKIPPED = {".git", ".venv", "third-party", "build", "src"}


@dataclass(frozen=True)
class Requirement:
    id: str
    area: str  # the table's file, such as 01-runtime-core
    text: str  # the row's first column after the id
    sections: frozenset[int]  # of the folded documents that the row comes from
    files: frozenset[str]  # of an index row: numbers of the tables that it names, such as 03


def read_tables(folder: Path) -> list[Requirement]:
    rows = []
    for path in sorted(folder.glob("[0-9]*.md")):
        for line in path.read_text().splitlines():
            if found := _TABLE_ROW.match(line):
                cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", found["rest"])]
                files = re.findall(r"\b\d\d\b", cells[1]) if found["id"].startswith("IX-") else []
                rows.append(
                    Requirement(
                        found["id"], path.stem, cells[0], _numbers(cells[2]), frozenset(files)
                    )
                )
    return rows


def _numbers(text: str) -> frozenset[int]:
    """`005,067-069` -> 5, 67, 68, 69"""
    spans = ((int(first), int(last or first)) for first, last in _SECTIONS.findall(text))
    return frozenset(n for first, last in spans for n in range(first, last + 1))


def named_by(index: Requirement, rows: list[Requirement]) -> list[str]:
    """The rows of an index row: those of its files that share a section with it."""
    return [row.id for row in rows if row.area[:2] in index.files and row.sections & index.sections]


def expand(ids: str) -> list[str]:
    """`RT-001, RT-010..012` -> the single ids."""
    out = []
    for word in re.split(r"[,\s]+", ids.strip()):
        found = _RANGE.match(word)
        if found:
            last = int(found[3] or found[2])
            out += [f"{found[1]}{n:0{len(found[2])}d}" for n in range(int(found[2]), last + 1)]
    return out


def _is_skipped(top: str) -> bool:
    return top in _SKIPPED or top.startswith(("cmake-out", "pip-out"))


def named_in_tests(root: Path) -> dict[str, list[str]]:
    """Row id -> test files that name it. This proves nothing: it tells which tests have not run."""
    marks: dict[str, list[str]] = defaultdict(list)
    tops = [top for top in root.iterdir() if not _is_skipped(top.name)]
    inside = [path for top in tops for path in (top.rglob("*") if top.is_dir() else [top])]
    for path in sorted(inside):
        relative = path.relative_to(root)
        if path.suffix not in {".cpp", ".py"}:
            continue
        python = path.suffix == ".py"
        is_test = path.name.endswith("_test.py") or path.name.startswith("test_")
        if python and not is_test and "test" not in relative.parts[:-1]:
            continue
        for row in rows_marked(path.read_text(errors="replace"), python):
            marks[row].append(str(relative))
    return marks


def rows_marked(text: str, python: bool = True) -> list[str]:
    """The ids in marks of tests, each once."""
    marked = _PY_MARK if python else _CPP_MARK
    return list(dict.fromkeys(re.findall(r"[A-Z]+-C?\d+", " ".join(marked.findall(text)))))


def read_rulings(path: Path) -> dict[str, str]:
    """id -> reason, from a list of {rows: "RT-019, RT-020", why: ...}."""
    entries = yaml.safe_load(path.read_text()) or []
    return {row: e["why"] for e in entries for row in expand(e.get("rows", ""))}


def read_areas(path: Path) -> dict[str, str]:
    """Table -> reason, from entries {areas: "09-vulkan", why: ...}: nobody has begun with these."""
    entries = yaml.safe_load(path.read_text()) or []
    return {area: e["why"] for e in entries for area in e.get("areas", "").split()}
