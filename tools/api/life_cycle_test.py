# SPDX-License-Identifier: BSD-3-Clause
"""Names that go were deprecated for two releases, and every mark in the sources has a row that says since when."""

from __future__ import annotations

from enum import Enum

import pytest

from executorch.exir import EdgeProgramManager
from executorch.export import ExportRecipe
from executorch.tools.api import life_cycle
from executorch.tools.api.life_cycle import (
    DELETED,
    DEPRECATED,
    EXPERIMENTAL,
    PAGE,
    Mark,
    Row,
    marks_in,
    problems,
    rows,
    version,
)
from executorch.version import __version__

TEXT = PAGE.read_text()
ROWS = rows(TEXT)


@pytest.mark.req("PRJ-010")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.mark.name}-{row.mark.where}")
def test_a_row_promises_two_releases(row: Row) -> None:
    assert problems(row, version(__version__)) == []


@pytest.mark.req("PRJ-010", "PRJ-031")
def test_the_page_says_what_each_state_promises_and_how_a_name_is_replaced() -> None:
    states = [
        line
        for line in TEXT.splitlines()
        if line.startswith(("| exper", "| stab", "| depr", "| delet"))
    ]
    assert [line.split(" ")[1] for line in states] == [EXPERIMENTAL, "stable", DEPRECATED, DELETED]
    assert "marked in 1.3, it may go in 1.5" in TEXT
    assert "in one commit write the new one, mark the old one" in TEXT


@pytest.mark.req("PRJ-010")
def test_marks_and_rows_are_the_same() -> None:
    listed = [row.mark for row in ROWS]
    assert len(listed) == len(set(listed)) > 40
    marked = life_cycle.marks()
    assert sorted(marked - set(listed)) == [], f"{PAGE.name} lacks a row"
    gone = {mark for mark in listed if mark.state != DELETED} - marked
    assert sorted(gone) == [], f"{PAGE.name} has a row of what is not marked"


def test_public_names_do_not_vanish_and_are_recorded() -> None:
    names, record = life_cycle.public_names(), life_cycle.recorded()
    assert len(record) > 300 and record == sorted(set(record))
    assert life_cycle.vanished(record, names, ROWS) == [], f"deprecate first: {PAGE.name}"
    new = sorted(names - set(record))
    assert new == [], "python -m executorch.tools.api.life_cycle --record"


SOURCES = {
    "a.h": """#define ET_DEPRECATED [[deprecated]]
// ET_DEPRECATED in words
class A {
  ET_DEPRECATED static executorch::runtime::Result<std::map<int, B>> From(const char* name);
  ET_DEPRECATED ET_NODISCARD Error
  step();
  ET_DEPRECATED A(int) : a_(1) {}
};
class ET_EXPERIMENTAL B : public A {};
ET_EXPERIMENTAL constexpr int kLimit{2};
__attribute__((objc_subclassing_restricted, deprecated("This API is experimental.")))
@interface Runner : NSObject
""",
    "a.py": '''@deprecated("Use b; may go in 1.6")
def a(): ...
class B:
    @_warnings.experimental("may change")
    def c(self): ...
''',
    "A.kt": '@Deprecated("Use close()", ReplaceWith("close()"))\n@JvmStatic\nfun reset(now: Int = 1) = 2\n',
    "A.java": "@Deprecated\npublic static long[] shape(int a) {\n",
    "A.swift": '@available(*, deprecated, message: "Use b")\n@discardableResult\npublic func a() -> Int {\n'
    '@available(*, deprecated, message: "This API is experimental")\npublic final class B {\n',
}  # fmt: skip
EXPECTED = {
    "a.h": ["From deprecated", "step deprecated", "A deprecated", "B experimental", "kLimit experimental",
            "Runner experimental"],
    "a.py": ["a deprecated", "c experimental"],
    "A.kt": ["reset deprecated"],
    "A.java": ["shape deprecated"],
    "A.swift": ["a deprecated", "B experimental"],
}  # fmt: skip


@pytest.mark.parametrize("where", SOURCES)
def test_marks_are_found(where: str) -> None:
    assert life_cycle.ANY.search(SOURCES[where])
    found = [f"{mark.name} {mark.state}" for mark in marks_in(where, SOURCES[where])]
    assert sorted(found) == sorted(EXPECTED[where])


@pytest.mark.parametrize(
    "state, since, until, instead, current, expected",
    [
        (DEPRECATED, (1, 3), (1, 5), "b", (1, 4), []),
        (DEPRECATED, (1, 3), (1, 4), "b", (1, 4), ["may go in 1.5 at the earliest"]),
        (DEPRECATED, (1, 3), None, "b", (1, 4), ["may go in 1.5 at the earliest"]),
        (DEPRECATED, (1, 3), (2, 0), "b", (1, 4), []),
        (DEPRECATED, (1, 3), (1, 5), "", (1, 4), ["does not say what to write instead"]),
        (DEPRECATED, (1, 5), (1, 7), "b", (1, 4), ["since a release that is still to come"]),
        (DELETED, (1, 3), (1, 5), "b", (1, 5), []),
        (DELETED, (1, 3), (1, 5), "b", (1, 4), ["deleted before its release"]),
        (EXPERIMENTAL, (1, 4), None, "", (1, 4), []),
        ("old", (1, 3), (1, 5), "b", (1, 4), ["a state old"]),
    ],
)
def test_rows_that_promise_too_little_are_seen(
    state: str,
    since: life_cycle.Version,
    until: life_cycle.Version | None,
    instead: str,
    current: life_cycle.Version,
    expected: list[str],
) -> None:
    assert problems(Row(Mark("a.h", "a", state), since, until, instead), current) == expected


def test_rows_are_read() -> None:
    page = """| `no` | x |
## Names that are marked
| name | where | state | since | may go in | instead |
|---|---|---|---|---|---|
| `a` | x/a.h | deprecated | 1.4 | 1.6 | `b`, `c` |
| `d` | x/d.py | experimental | 1.4 | | |
"""
    assert rows(page) == [
        Row(Mark("x/a.h", "a", DEPRECATED), (1, 4), (1, 6), "`b`, `c`"),
        Row(Mark("x/d.py", "d", EXPERIMENTAL), (1, 4), None, ""),
    ]


def test_a_name_that_vanishes_needs_a_row() -> None:
    row = Row(Mark("x.py", "b", DELETED), (1, 3), (1, 5), "c")
    assert life_cycle.vanished(["x.A.b", "x.A.c"], {"x.A.c"}, []) == ["x.A.b"]
    assert life_cycle.vanished(["x.A.b", "x.A.c"], {"x.A.c"}, [row]) == []


def test_members_are_those_of_the_class() -> None:
    class Base:
        def given(self) -> None: ...

        def replaced(self) -> None: ...

    class Own(Base):
        def replaced(self) -> None: ...

        def added(self) -> None: ...

        def _hidden(self) -> None: ...

    class Code(Enum):
        ONE = 1

    assert life_cycle.members(Own) == {"added"}
    assert life_cycle.members(Code) == {"ONE"}
    assert {"to_executorch", "transform"} <= life_cycle.members(EdgeProgramManager)
    assert "lowering_recipe" in life_cycle.members(ExportRecipe)
