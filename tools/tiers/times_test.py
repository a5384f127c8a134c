# SPDX-License-Identifier: BSD-3-Clause
"""What a run has seen becomes few changed lines, and tiers and shards follow."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from executorch.tools.tiers import times
from executorch.tools.tiers.results import misplaced, seen
from executorch.tools.tiers.times import FAST, SLOW, Cost, Shard, Times

SHORT, LONG, OTHER = (
    "a/b_test.py::test_short",
    "a/b_test.py::TestB::test_long[1, 2]",
    "a/c_test.py::test_c",
)


def test_the_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "times.tsv"
    known = Times({LONG: Cost(2.5, 10, 800)}, {"a/b_test.py": Cost(0.4)})
    times.write(known, file)
    assert file.read_text().splitlines()[1:] == [
        "0.4\t0\t-\ta/b_test.py",
        "2.5\t10\t800\ta/b_test.py::TestB::test_long[1, 2]",
    ]
    assert times.read(file) == known


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, 0), (1, 1), (1.1, 1), (1.2, 1.25), (28, 25), (0.033, 0.032), (9.4, 10)],
)
def test_numbers_are_steps(value: float, expected: float) -> None:
    assert times.step(value) == expected


@pytest.mark.parametrize(
    ("own", "shared", "tier"),
    [
        (0.9, 0, FAST),
        (1.4, 0, FAST),  # a second, measured on another day
        (1.6, 0, SLOW),
        (0.1, 3, SLOW),  # with what it needs
    ],
)
def test_a_new_test_has_the_tier_of_what_it_took(
    own: float, shared: float, tier: times.Tier
) -> None:
    known = times.recorded(Times(), {SHORT: Cost(own, shared)})
    assert times.tier_of(SHORT, known) is tier
    assert times.tier_of(OTHER, known) is FAST


def test_a_line_changes_when_the_number_is_another() -> None:
    known = Times({LONG: Cost(2.5, 0, 800)}, {"a/b_test.py": Cost(0.4)})
    same = {LONG: Cost(3.6, 0, 1000), SHORT: Cost(0.3)}
    assert times.recorded(known, same) == known
    assert times.recorded(known, {LONG: Cost(5)}).tests == {LONG: Cost(5, 0, 800)}
    assert times.recorded(known, {LONG: Cost(0.5)}) == Times({}, known.files)
    assert times.recorded(known, {SHORT: Cost(4, 0, 90)}).tests.keys() == {LONG, SHORT}


def test_shards_are_whole_files_of_about_equal_length() -> None:
    known = times.read()
    files = times.slow_files(known)
    parts = times.shards(files, 8)
    assert sorted(name for part in parts for name in part) == sorted(files)
    lengths = [sum(files[name] for name in part) for part in parts]
    assert max(lengths) <= max(1.2 * sum(lengths) / 8, max(files.values()))


def test_what_tests_share_counts_once_for_a_file() -> None:
    two = {f"a/b_test.py::test_{n}": Cost(1, 30) for n in range(2)}
    assert times.slow_files(Times(two)) == {"a/b_test.py": 32}


def test_what_proves_the_wheel_is_fast_whatever_it_takes() -> None:
    name = "test/install/installed_test.py::test_x"
    known = Times({name: Cost(9)})
    assert times.tier_of(name, known) is FAST
    assert misplaced({name: Cost(9)}, known) == {}


@pytest.mark.parametrize("text", ["0/8", "9/8", "3", "x/8", ""])
def test_a_shard_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a shard such as 3/8"):
        Shard.read(text)


def test_eight_commits_in_a_row_draw_eight_shards(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        given = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *given, *words], cwd=tmp_path, check=True, capture_output=True)

    assert times.drawn(8, tmp_path / "..") in range(1, 9)
    git("init", "-q")
    found = []
    for _ in range(8):
        git("commit", "-q", "--allow-empty", "-m", "x")
        found.append(times.drawn(8, tmp_path))
    assert sorted(found) == [*range(1, 9)]


RESULTS = """<testsuites><testsuite name="pytest">
  <testcase classname="tools.tiers.times_test" name="test_a[1]"><properties>
    <property name="processor_seconds" value="3.5"/><property name="shared_seconds" value="0.25"/>
    <property name="peak_megabytes" value="1.2e+03"/></properties></testcase>
  <testcase classname="tools.tiers.times_test.TestB" name="test_b" time="9"/>
  <testcase classname="tools.tiers.times_test" name="test_failed"><failure/></testcase>
  <testcase classname="tools.tiers.no_such_test" name="test_c"/>
</testsuite></testsuites>"""


def test_a_result_file_says_what_tests_took(tmp_path: Path) -> None:
    file = tmp_path / "x.xml"
    file.write_text(RESULTS)
    first = "tools/tiers/times_test.py::test_a[1]"
    costs = seen([file])
    assert costs == {
        first: Cost(3.5, 0.25, 1200),
        "tools/tiers/times_test.py::TestB::test_b": Cost(0),
    }
    assert list(misplaced(costs, Times())) == [first]  # more than three seconds, and nobody said so
    assert misplaced(costs, Times({first: Cost(4)})) == {}
    assert misplaced({first: Cost(400)}, Times({first: Cost(4)}))[first][0] is SLOW


def test_names_that_left_the_tree_are_known() -> None:
    here = "tools/tiers/times_test.py"
    assert times.is_there(here)
    assert times.is_there(f"{here}::test_numbers_are_steps[1-1]")
    assert not times.is_there(f"{here}::test_" + "gone")
    assert not times.is_there("tools/tiers/gone_test.py::test_x")
    assert times.is_there("backends/test/conformance/conformance_test.py::test_of_another_file")


def test_parts_of_many_cases_are_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [f"a_test.py::test_many[{n}]" for n in range(90)] + ["a_test.py::test_few[1]"]
    parts = []
    for place in range(1, 6):
        monkeypatch.setattr(times, "place_of_commit", lambda root, place=place: place)
        parts.append(times.drawn_cases(cases, 20) - {"a_test.py::test_few[1]"})
    assert [len(part) for part in parts] == [18] * 5
    assert set().union(*parts) == set(cases[:-1])
