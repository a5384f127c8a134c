# SPDX-License-Identifier: BSD-3-Clause
"""The reader of requirement tables, marks and rulings, and what it says about this tree."""

from pathlib import Path

import pytest

from executorch.tools.requirements import report
from executorch.tools.requirements.rows import expand, read_rulings, read_tables, test_marks

ROOT = Path(__file__).resolve().parents[2]
test_marks.__test__ = False  # a function of the product whose name looks like a test


@pytest.mark.parametrize(
    "text, ids",
    [
        ("RT-001", ["RT-001"]),
        ("RT-009..011, PY-C01", ["RT-009", "RT-010", "RT-011", "PY-C01"]),
        ("nothing here", []),
    ],
)
def test_ranges_expand(text: str, ids: list[str]) -> None:
    assert expand(text) == ids


def test_tables_hold_every_area() -> None:
    rows = read_tables(ROOT / "docs" / "requirements")
    areas = {row.id.rsplit("-", 1)[0] for row in rows}
    assert {"RT", "KS", "CMP", "DT", "EXT", "PY", "XQ", "LLM", "BLD", "PRJ", "IX"} <= areas
    plain = [row.id for row in rows]
    assert len(plain) == len(set(plain)), "an id stands twice"


def test_marks_are_found_in_both_languages(tmp_path: Path) -> None:
    (tmp_path / "a_test.cpp").write_text("// req: RT-001, RT-003..004\nTEST(A, B) {}\n")
    (tmp_path / "b_test.py").write_text(
        '@pytest.mark.req(\n    "PY-001",\n    "PY-002",\n)\ndef test(): ...\n'
    )
    (tmp_path / "no.py").write_text('@pytest.mark.req("PY-003")\n')
    assert test_marks(tmp_path) == {
        "RT-001": ["a_test.cpp"],
        "RT-003": ["a_test.cpp"],
        "RT-004": ["a_test.cpp"],
        "PY-001": ["b_test.py"],
        "PY-002": ["b_test.py"],
    }


def test_every_ruling_has_a_reason() -> None:
    for name in ("superseded.yaml", "waivers.yaml"):
        rulings = read_rulings(ROOT / "docs" / "requirements" / name)
        assert rulings and all(len(why) > 10 for why in rulings.values())


def test_no_test_or_ruling_names_a_row_that_does_not_exist(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = report.main(["--check"])
    assert code == 0, capsys.readouterr().err
