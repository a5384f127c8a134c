# SPDX-License-Identifier: BSD-3-Clause
"""The page of all rows is of this tree; tiers are read from marks; a tier's last run stays until a newer one."""

from __future__ import annotations

from pathlib import Path

import pytest

from executorch.tools.requirements import page
from executorch.tools.requirements.marks import tiers_of_rows
from executorch.tools.requirements.page import Seen, ranges, seen_in, seen_on
from executorch.tools.requirements.report import TABLES, groups_of
from executorch.tools.requirements.results import Case, Run
from executorch.tools.requirements.rows import Requirement, expand, named_in_tests, read_tables

ROOT = Path(__file__).resolve().parents[2]
STATE = TABLES / "state.md"


@pytest.mark.machine("a page of results")
def test_the_page_is_current() -> None:
    """Tiers, too, which follow from what tests took; commits and failed rows are those of the page itself."""
    rows = read_tables(TABLES)
    made = page.text(rows, groups_of(rows), seen_on(STATE))
    assert STATE.read_text() == made, f"run {page.COMMAND}"


def state_on_page() -> list[tuple[str, str]]:
    """(row, group) as the page has them."""
    lines = [
        line[2:].partition(": ") for line in STATE.read_text().splitlines() if line[:2] == "- "
    ]
    return [(row, group) for group, _, rows in lines for row in expand(rows)]


def test_each_row_stands_once_and_is_what_the_tree_says() -> None:
    rows = read_tables(TABLES)
    found = state_on_page()
    assert sorted(row for row, _ in found) == sorted(row.id for row in rows if not row.files)

    def proved(group: str) -> str:
        return "proved" if group in page.TIERS else group

    groups = groups_of(rows)
    stale = [row for row, group in found if proved(group) != proved(groups[row])]
    assert not stale, f"{stale}: run {page.COMMAND}"


SOURCE = """
import pytest
pytestmark = [pytest.mark.interop]
ROWS = [pytest.param(1, marks=pytest.mark.req("RT-004"))]

@pytest.mark.req("RT-001")
def test_a(): ...

@pytest.mark.full
@pytest.mark.req("RT-001", "RT-002")
def test_b(): ...

@pytest.mark.full
class TestC:
    @pytest.mark.req("RT-003")
    def test_d(self): ...

@pytest.mark.parametrize("x", ROWS)
@pytest.mark.full
def test_e(x): ...
"""


def test_tiers_are_read_from_marks(tmp_path: Path) -> None:
    (tmp_path / "a_test.py").write_text(SOURCE)
    (tmp_path / "b_test.cpp").write_text('RecordProperty("req", "RT-005");')
    whole = SOURCE.replace("mark.interop", "mark.full").replace("RT-", "KS-")
    (tmp_path / "c_test.py").write_text(whole)
    tiers = tiers_of_rows(tmp_path)
    assert tiers == {
        "RT-001": "fast",
        "RT-005": "fast",
        **dict.fromkeys(("RT-002", "RT-003", "RT-004"), "full"),
        **dict.fromkeys(("KS-001", "KS-002", "KS-003", "KS-004"), "full"),
    }
    assert set(tiers) == set(named_in_tests(tmp_path))


def test_ranges_are_what_expands_to_the_rows() -> None:
    ids = ["RT-001", "RT-002", "RT-003", "RT-005", "RT-C01", "RT-C02", "KS-003"]
    assert ranges(ids) == "RT-001..003, RT-005, RT-C01..02, KS-003"
    assert expand(ranges(ids)) == ids


def test_the_last_run_of_a_tier_is_told_and_kept(tmp_path: Path) -> None:
    groups = {"RT-001": "fast", "RT-002": "fast", "RT-003": "full"}
    rows = [Requirement(row, "01-core", "", frozenset(), frozenset()) for row in groups]
    first = Case("a", ("RT-001",), "passed", False), Case("b", ("RT-002",), "failed", False)
    runs = [Run(tmp_path, 1.0, "aaa", first), Run(tmp_path, 2.0, "bbb", ())]
    assert seen_in(runs, groups) == {"fast": Seen("aaa", "RT-002")}
    page.write(tmp_path / "p.md", rows, groups, runs)
    page.write(tmp_path / "p.md", rows, groups, [])
    text = (tmp_path / "p.md").read_text()
    assert "| fast | 2 | aaa | RT-002 |" in text and "| full | 1 | no results yet | - |" in text
    assert "- fast: RT-001..002\n- full: RT-003\n" in text
