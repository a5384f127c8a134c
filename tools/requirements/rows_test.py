# SPDX-License-Identifier: BSD-3-Clause
"""The readers of tables, rulings and results, what makes a row proven, and what is said about this tree."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from executorch.tools.requirements.reasons import areas_here, backends_here, outdated
from executorch.tools.requirements.report import (
    TABLES,
    Rulings,
    State,
    index_state,
    problems,
    read_all_rulings,
    stale,
    states,
    without_reason,
)
from executorch.tools.requirements.results import Case, commit_at, last_cases, read_runs
from executorch.tools.requirements.rows import (
    Requirement,
    expand,
    named_by,
    named_in_tests,
    read_areas,
    read_tables,
)

ROOT = Path(__file__).resolve().parents[2]
PASSED = '<testcase classname="{group}" name="a" time="0"><properties>{properties}</properties>{more}</testcase>'


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
    rows = read_tables(TABLES)
    areas = {row.id.rsplit("-", 1)[0] for row in rows}
    assert {"RT", "KS", "CMP", "DT", "EXT", "PY", "XQ", "LLM", "BLD", "PRJ", "IX"} <= areas
    plain = [row.id for row in rows]
    assert len(plain) == len(set(plain)), "an id stands twice"
    assert [row.id for row in rows if not row.sections] == []


def test_an_index_row_names_the_rows_of_its_tables_and_sections() -> None:
    rows = read_tables(TABLES)
    pte = next(row for row in rows if row.id == "IX-002")  # table 01, section 148
    assert named_by(pte, rows) == ["RT-001", "RT-002", "RT-003", "RT-004", "RT-005"]
    assert [r.id for r in rows if r.files and not named_by(r, rows)] == []


def junit(tmp_path: Path, name: str, body: str) -> Path:
    folder = tmp_path / "results"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.xml").write_text(
        f"<testsuites><testsuite name='s'>{body}</testsuite></testsuites>"
    )
    return folder


MARK = '<property name="req" value="RT-001 RT-002"/>'


@pytest.mark.parametrize(
    "more, outcome",
    [
        ("", "passed"),
        ("<skipped message='no peer'/>", "skipped"),
        ("<failure message='1 != 2'/>", "failed"),
        ("<error message='in its fixture'/>", "failed"),
    ],
)
def test_a_case_has_its_rows_and_outcome(tmp_path: Path, more: str, outcome: str) -> None:
    body = PASSED.format(group="exir.a_test", properties=MARK, more=more)
    (run,) = read_runs([junit(tmp_path, "pytest-all", body)], ROOT)
    assert run.cases == (Case("exir.a_test::a", ("RT-001", "RT-002"), outcome, False),)
    assert run.commit == commit_at(ROOT)


def test_the_newest_result_of_a_test_counts(tmp_path: Path) -> None:
    one = PASSED.format(group="g", properties=MARK, more="")
    other = PASSED.format(group="h", properties=MARK, more="")
    folder = junit(tmp_path, "pytest-all", one + other)
    junit(tmp_path, "pytest-few", one.replace("</testcase>", "<failure/></testcase>"))
    os.utime(folder / "pytest-all.xml", (1, 1))
    outcomes = {case.name: case.outcome for case in last_cases(read_runs([folder], ROOT))}
    assert outcomes == {"g::a": "failed", "h::a": "passed"}


GOOGLETEST = """
<testcase name="B" status="run" result="completed" classname="A"><properties>
  <property name="req" value="RT-001 RT-002"/></properties></testcase>
<testcase name="C" status="run" result="completed" classname="A"><failure message="1 != 2"/></testcase>
<testcase name="D" status="run" result="skipped" classname="A"><skipped message="x"/></testcase>
<testcase name="DISABLED_E" status="notrun" result="suppressed" classname="A" />"""


def test_results_of_a_google_test_program(tmp_path: Path) -> None:
    (run,) = read_runs([junit(tmp_path, "method_test", GOOGLETEST)], ROOT)
    assert run.cases == (
        Case("method_test::A.B", ("RT-001", "RT-002"), "passed", False),
        Case("method_test::A.C", (), "failed", False),
        Case("method_test::A.D", (), "skipped", False),
        Case("method_test::A.DISABLED_E", (), "skipped", False),
    )


def row(row_id: str) -> Requirement:
    return Requirement(row_id, "01-runtime-core", "what", frozenset({7}), frozenset())


@pytest.mark.parametrize(
    "cases, name",
    [
        ([("passed", False), ("passed", True)], "proven"),
        ([("passed", True)], "full only"),
        ([("passed", False), ("failed", False)], "failed"),
        ([("skipped", False)], "not run"),
        ([], "not run"),
    ],
)
def test_what_makes_a_row_proven(cases: list[tuple[str, bool]], name: str) -> None:
    found = [Case(str(i), ("RT-001",), *case) for i, case in enumerate(cases)]
    rulings = Rulings({"RT-002": "better"}, {"RT-003": "no machine"}, {"RT-004": "half"})
    rows = [row(f"RT-00{i}") for i in range(1, 6)]
    got = states(rows, found, {"RT-001": ["a_test.cpp"]}, rulings)
    assert [got[r.id].name for r in rows] == [name, "superseded", "waived", "open", "open"]
    assert [got[i].note for i in ("RT-004", "RT-005")] == ["half", "what"]


def test_an_index_row_is_what_its_rows_are() -> None:
    def of(*names: str) -> str:
        return index_state([State(name, "") for name in names]).name

    assert of("proven", "superseded", "waived") == "proven"
    assert of("proven", "full only") == "full only"
    assert of("proven", "open") == of("waived") == of() == "open"
    assert of("proven", "failed", "open") == "failed"
    assert of("proven", "not run") == "not run"


def test_an_open_row_needs_a_reason_where_its_area_is_begun() -> None:
    rows = [
        row("RT-998"),
        row("BLD-024"),
        row("RT-999"),
    ]
    found = {r.id: State("open", "") for r in rows} | {"RT-999": State("proven", "a_test")}
    (line,) = without_reason(rows, found)  # open.yaml has BLD-024
    assert line.startswith("RT-998 of 01-runtime-core has neither a test nor a reason")


def test_every_row_of_a_begun_area_has_a_test_or_a_reason() -> None:
    rows = read_tables(TABLES)
    found = states(rows, [], named_in_tests(ROOT), read_all_rulings())
    assert without_reason(rows, found) == []


REASONS = [  # areas 10 and 12, and the backends vulkan, coreml and cortex_m are here
    ("comes with areas 10 and 11", ["area 10 is here"]),
    ("the others: areas 11 to 13", ["area 12 is here"]),
    ("needs the NDK: area 11", []),
    ("Core ML is not here", ["coreml is here, not so:Core ML is not here"]),
    ("XNNPACK; Cortex-M is a later part", ["cortex_m is here, not so: Cortex-M is a later part"]),
    ("only XNNPACK; Vulkan and CUDA are not", ["vulkan is here, not so: Vulkan and CUDA are not"]),
    ("those for iOS and Vulkan are refused", ["vulkan is here, not so:those for iOS and Vulkan are refused"]),
    ("Vulkan runs, CUDA is not here", []),
    ("Core ML needs macOS with Xcode", []),
]  # fmt: skip


@pytest.mark.parametrize("why, expected", REASONS)
def test_a_reason_that_names_what_is_here_is_seen(why: str, expected: list[str]) -> None:
    found = outdated({"RT-001": why}, [], {"10", "12"}, {"vulkan", "coreml", "cortex_m"})
    assert found == [f"RT-001: {each}" for each in expected]


def test_no_reason_says_that_what_is_here_is_missing() -> None:
    rows, backends = read_tables(TABLES), backends_here(ROOT / "backends")
    areas = areas_here(rows, named_in_tests(ROOT))
    assert {"01", "10", "12"} <= areas and {"xnnpack", "coreml", "vgf"} <= backends
    unbegun = read_areas(TABLES / "open.yaml")
    assert outdated(read_all_rulings().open, unbegun, areas, backends) == []
    assert outdated({}, ["12-arm"], areas, backends) == ["12-arm has rows that tests name"]


def test_areas_that_are_not_begun_are_tables() -> None:
    areas = read_areas(TABLES / "open.yaml")
    assert set(areas) <= {row.area for row in read_tables(TABLES)}
    assert all(len(why) > 10 for why in areas.values())


def test_results_of_another_commit_are_told(tmp_path: Path) -> None:
    runs = read_runs([junit(tmp_path, "pytest-all", "")], ROOT)
    assert stale(runs, commit_at(ROOT)) == []
    assert "the tree is at 0123456" in stale(runs, "0123456")[0]


def test_pytest_writes_the_rows_of_a_test(tmp_path: Path) -> None:
    (tmp_path / "a_test.py").write_text(
        "import pytest\n\n@pytest.mark.full\nclass TestA:\n"
        '    @pytest.mark.req("PY-001", "PY-002")\n    def test_b(self): ...\n'
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "executorch.tools.requirements.recorder"]
    command += ["-p", "no:cacheprovider", "--junitxml=results/r.xml", "a_test.py"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    (run,) = read_runs([tmp_path / "results"], ROOT)
    assert run.cases == (Case("a_test.TestA::test_b", ("PY-001", "PY-002"), "passed", True),)


def test_names_in_tests_are_found_in_both_languages(tmp_path: Path) -> None:
    (tmp_path / "a_test.cpp").write_text(
        'TEST(A, B) {\n  RecordProperty("req", "RT-001 RT-004");\n}\n'
    )
    (tmp_path / "b_test.py").write_text(
        '@pytest.mark.req(\n    "PY-001",\n    "PY-002",\n)\ndef test(): ...\n'
    )
    (tmp_path / "no.py").write_text('@pytest.mark.req("PY-003")\n')
    assert named_in_tests(tmp_path) == {
        "RT-001": ["a_test.cpp"],
        "RT-004": ["a_test.cpp"],
        "PY-001": ["b_test.py"],
        "PY-002": ["b_test.py"],
    }


def test_every_ruling_has_a_reason_and_one_place() -> None:
    rulings = read_all_rulings()
    for found in (rulings.superseded, rulings.waived, rulings.open):
        assert found and all(len(why) > 10 for why in found.values())
    places = [*rulings.superseded, *rulings.waived, *rulings.open]
    assert len(places) == len(set(places))


def test_no_test_or_ruling_names_a_row_that_does_not_exist() -> None:
    rows = {row.id: State("open", "") for row in read_tables(TABLES)}
    assert problems(rows, [], named_in_tests(ROOT)) == []
