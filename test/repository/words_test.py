# SPDX-License-Identifier: BSD-3-Clause
"""Words that docs/glossary.md has in `backticks` in its third column stand in no file name and no identifier of ours:
functions, classes, variables and parameters of Python and C++. Names of tests are sentences, and may have any."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from executorch.test.repository.names_test import documented_places
from executorch.test.repository.sources import ROOT, files, with_suffix

IDENTIFIER = re.compile(r"\w+")
PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
OTHERS = ("docs/", "runtime/core/portable_type/c10/", "third-party/")
CPP = (".h", ".cpp", ".mm")
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
# What stands behind a type or a keyword that defines, and every constant.
CPP_NAMES = re.compile(
    r"(?P<before>\w+|[>*&\]])\s+[*&]*(?P<name>[A-Za-z_]\w*)(?=\s*[(=;,){\[:<])|\b(?P<constant>k[A-Z]\w*)"
)
NO_TYPES = frozenset("return case new delete goto else throw co_return typename operator".split())


@dataclass(frozen=True)
class Word:
    """`text`: parts of a name, of capitals where it is written with them; with `.*` the name of a file alone."""

    text: str
    instead: str

    @functools.cached_property
    def parts(self) -> list[str]:
        return PARTS.findall(self.text)

    def is_in(self, name: str) -> bool:
        found, count = PARTS.findall(name), len(self.parts)
        if self.text.islower():
            found = [each.lower() for each in found]
        return any(found[i : i + count] == self.parts for i in range(len(found) - count + 1))

    def is_file(self, name: str) -> bool:
        return fnmatchcase(name, self.text) if "." in self.text else self.is_in(name)


def words_of(glossary: str) -> list[Word]:
    rows = re.findall(r"^\| ([^|]+?) \|[^|]*\|([^|]*)\|$", glossary, re.M)
    return [
        Word(each, row[0])
        for row in rows
        if "---" not in row[0]
        for each in re.findall("`([^`]+)`", row[1])
    ]


WORDS = words_of((ROOT / "docs/glossary.md").read_text())


def python_names(text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if not name.startswith("test_"):
                    yield node.lineno, name
            case ast.ClassDef(name=name) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name


def cpp_names(text: str) -> Iterator[tuple[int, str]]:
    code = COMMENT_OR_TEXT.sub(lambda found: "\n" * found[0].count("\n"), text)
    for found in CPP_NAMES.finditer(code):
        if found["before"] not in NO_TYPES:
            yield code.count("\n", 0, found.start()) + 1, found["name"] or found["constant"]


class Rule:
    """The words of a table, for names."""

    def __init__(self, words: list[Word]) -> None:
        self._words = [each for each in words if "." not in each.text]
        self._spelled = re.compile("|".join("_?".join(each.parts) for each in self._words), re.I)
        self._found: dict[str, Word | None] = {}

    def word_in(self, name: str) -> Word | None:
        if name not in self._found:
            is_near = self._spelled.search(name) and name not in documented_names()
            words = self._words if is_near else []
            self._found[name] = next((each for each in words if each.is_in(name)), None)
        return self._found[name]

    def offences(self, path: Path, text: str) -> list[str]:
        if not any(map(self.word_in, set(IDENTIFIER.findall(text)))):  # so it needs no parsing
            return []
        names = python_names(text) if path.suffix == ".py" else cpp_names(text)
        found = [(line, name, self.word_in(name)) for line, name in names]
        return [
            f"{path}:{line}: {name}: not {word.text}, but: {word.instead}"
            for line, name, word in found
            if word is not None
        ]


@functools.cache
def documented_names() -> frozenset[str]:
    texts = [each.read_text() for each in sorted((ROOT / "test/api").glob("*.*"))]
    return frozenset(re.findall(r"\w+", "\n".join(texts)))


def test_files_are_called_by_the_glossarys_words() -> None:
    documented = documented_places()
    found = [
        f"{path}: not {word.text}, but: {word.instead}"
        for path in files()
        if not str(path).startswith(OTHERS) and str(path.with_suffix("")) not in documented
        for word in WORDS
        if word.is_file(path.name)
    ]
    assert not found, "\n".join(found)


def test_identifiers_are_made_of_the_glossarys_words() -> None:
    rule = Rule(WORDS)
    found = [
        each
        for path in with_suffix(".py", *CPP)
        if not str(path).startswith(OTHERS)
        for each in rule.offences(path, (ROOT / path).read_text(errors="replace"))
    ]
    assert not found, "\n".join(found)


TABLE = [
    Word("moves", "data movement"),
    Word("lie_alike", "have_same_dim_order"),
    Word("kMost", "kMax"),
    Word("product.*", "matmul"),
]


@pytest.mark.parametrize(
    "path, text, found",
    [
        ("a.py", "x = 1\ndef _moves_all(): ...", "a.py:2: _moves_all: not moves, but: data movement"),
        ("a.py", "class RowMoves: ...", "a.py:1: RowMoves: not moves, but: data movement"),
        ("a.py", "def f(moves): ...", "a.py:1: moves: not moves, but: data movement"),
        ("a.py", "self.lie_alike = 1", "a.py:1: lie_alike: not lie_alike, but: have_same_dim_order"),
        ("a.py", "# moves\ndef test_what_moves(): removes = 'moves'", ""),
        ("a.h", "\nbool LieAlike(int a);", "a.h:2: LieAlike: not lie_alike, but: have_same_dim_order"),
        ("a.h", "void f(const int* moves);", "a.h:1: moves: not moves, but: data movement"),
        ("a.h", "int x = kMostRows;", "a.h:1: kMostRows: not kMost, but: kMax"),
        ("a.h", "/* int moves; */ return moves; // int moves;", ""),
        ("a.h", "int k_most = most;", ""),
    ],
)  # fmt: skip
def test_a_planted_word_is_found(path: str, text: str, found: str) -> None:
    assert "\n".join(Rule(TABLE).offences(Path(path), text)) == found


def test_the_third_column_is_read() -> None:
    row = "| word | what | not |\n|---|---|---|\n| data movement | `clone` | moved, `moves`, `Way` |\n"
    assert words_of(row) == [Word("moves", "data movement"), Word("Way", "data movement")]
    assert TABLE[0].is_file("moves_test.py") and not TABLE[0].is_file("remove.py")
    assert TABLE[3].is_file("product.h") and not TABLE[3].is_file("product_test.cpp")
