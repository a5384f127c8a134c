# SPDX-License-Identifier: BSD-3-Clause
"""Which plants are found in a source, that each makes one change, and what is reported."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from executorch.tools.planted import plants
from executorch.tools.planted.__main__ import ROOT, chosen, existing, is_done
from executorch.tools.planted.catalogue import KINDS, Kind, named
from executorch.tools.planted.copy import Copy
from executorch.tools.planted.page import rows_of, was_there, written
from executorch.tools.planted.report import read_reasons, report
from executorch.tools.planted.warm import COLD, LATE, Warm

SOURCE = """LIMIT = 4
ROWS = {"add": 1, "mul": 2, "sub": 3}
CHECKS = (Condition(lambda node: node.alpha == 1, "alpha must be 1"),)


def area(width, height=1.5, keep=True):
    if width < 0 and keep:
        raise ValueError("no — such width")
    return min(width, LIMIT) * (height if keep else 2)


area(1, keep=True)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(SOURCE)
    return tmp_path


@pytest.mark.parametrize(
    "mutator, expected",
    [
        (plants.conditions, {"CHECKS: condition always true: lambda node: node.alpha == 1"}),
        (plants.guards, {"area: guard never taken: width < 0 and keep"}),
        (plants.operands, {"area: operand of and gone: width < 0", "area: operand of and gone: keep"}),
        (plants.comparisons, {"CHECKS: == another: node.alpha == 1", "area: < another: width < 0"}),
        (plants.choices, {"area: the other extreme: min", "area: the other choice: keep"}),
        (plants.numbers, {"LIMIT: one more: 4", "ROWS['mul']: one more: 2",
                          "ROWS['sub']: one more: 3",
                          "area: 1 % more: 1.5", "area: one more: 2"}),
        (plants.entries, {'ROWS: row gone: "add"', 'ROWS: row gone: "mul"', 'ROWS: row gone: "sub"'}),
        (plants.settings, {"module: the other setting: keep=True"}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)  # fmt: skip
def test_a_mutator_finds_its_places(
    root: Path, mutator: plants.Mutator, expected: set[str]
) -> None:
    found = list(plants.in_python(root, "a.py", (mutator,)))
    assert {plant.name.removeprefix("a.py:") for plant in found} == expected
    for plant in found:
        changed = plant.in_text(SOURCE)
        assert changed != SOURCE
        ast.parse(changed)


def test_a_file_that_changed_since_is_told(root: Path) -> None:
    (plant,) = plants.in_python(root, "a.py", (plants.guards,))
    with pytest.raises(ValueError, match="make the plants again"):
        plant.in_text("# a line more\n" + SOURCE)


def test_a_change_by_hand_stands_there_once(root: Path) -> None:
    plant = plants.listed(root, "a.py", "LIMIT = 4", "LIMIT = 5", "one more")
    assert plant.in_text(SOURCE).startswith("LIMIT = 5\n")
    with pytest.raises(ValueError, match="found it 0 times"):
        plants.listed(root, "a.py", "LIMIT = 6", "", "")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_each_kind_of_the_catalogue_has_plants_and_tests(kind: Kind) -> None:
    """Also that every change by hand still fits its file."""
    found = list(kind.plants(ROOT))
    assert found and existing(kind)
    assert len({plant.name for plant in found}) == len(found)
    for plant in found:
        text = plant.in_text((ROOT / plant.file).read_text())
        if plant.file.endswith(".py"):
            ast.parse(text)


def test_plants_of_the_same_text_have_names_of_their_own(tmp_path: Path) -> None:
    """Results and reasons are kept by name."""
    (tmp_path / "a.py").write_text(
        "ROWS: dict = {'a': f(x=True), 'b': f(x=True)}\ng(y=True)\ng(y=True)\n"
    )
    names = [plant.name for plant in plants.in_python(tmp_path, "a.py", (plants.settings,))]
    assert names == [
        "a.py:ROWS['a']: the other setting: x=True", "a.py:ROWS['b']: the other setting: x=True",
        "a.py:module: the other setting: y=True", "a.py:module (2): the other setting: y=True",
    ]  # fmt: skip


def test_a_drawn_choice_is_the_same_again() -> None:
    kinds = named(["planner", "emitter"])
    first, again, other = (chosen(kinds, "", 5, seed) for seed in (1, 1, 2))
    assert first == again != other and len(first) == 10
    assert chosen(kinds[:1], "", 3, 1) == first[:3]
    with pytest.raises(ValueError, match="unknown kind plans: expected one of condition, row"):
        named(["plans"])


def test_a_quick_look_leaves_what_it_did_not_notice_to_a_longer_one() -> None:
    kind = named(["emitter"])[0]
    assert existing(kind, 2) == existing(kind)[:2] and len(existing(kind)) > 2
    seen, unseen = {"noticed": "a_test.py", "files": 1}, {"noticed": "", "files": 1}
    assert is_done(seen, 0) and is_done(unseen, 1)
    assert not is_done(unseen, 0) and not is_done(unseen, 2)
    assert is_done({"noticed": ""}, 1) and not is_done({"noticed": "", "problem": "no compiler"}, 1)


def test_what_went_unnoticed_needs_a_reason() -> None:
    rows = [
        {"kind": "k", "plant": "a.py:f: guard never taken: x", "noticed": "a_test.py"},
        {"kind": "k", "plant": "a.py:g: guard never taken: y", "noticed": ""},
        {"kind": "k", "plant": "a.py:h: guard never taken: z", "noticed": ""},
    ]
    lines, bare = report(rows, [("a.py:g", "a shorter way to the same")])
    assert bare == ["a.py:h: guard never taken: z"]
    assert lines[1].split() == ["k", "3", "1", "1", "1"]
    assert report(rows[:2], [("a.py:g", "the same")])[0][-1].startswith("no fault went unnoticed")


def test_reasons_are_of_plants_that_there_are() -> None:
    names = [plant.name for kind in KINDS for plant in kind.plants(ROOT)]
    for text, why in read_reasons():
        assert len(why) > 10
        assert any(text in name for name in names), f"no plant has {text!r}: remove its reason"


@pytest.fixture
def repository(root: Path) -> Path:
    """Of its own, with a test that notices a guard and none that notices the limit."""
    (root / "a.py").write_text(SOURCE.replace("CHECKS = (Condition", "CHECKS = (tuple").replace(
        'CHECKS = (tuple(lambda node: node.alpha == 1, "alpha must be 1"),)\n', ""
    ))  # fmt: skip
    (root / "a_test.py").write_text(
        "import pytest\nfrom a import area\n\n\ndef test_area():\n"
        "    with pytest.raises(ValueError):\n        area(-1)\n"
    )
    (root / "conftest.py").write_text("import sys\nsys.path.insert(0, '.')\n")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


def test_a_plant_is_noticed_or_not_and_the_tree_stays(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    kind = Kind("k", "", ("a_test.py",), ("a.py",), (plants.guards, plants.numbers))
    folder = tmp_path_factory.mktemp("copies") / "tree"
    copy, before = Copy(repository, folder, ("pytest",)), (repository / "a.py").read_bytes()
    found = {}
    for plant in kind.plants(repository):
        copy.plant(plant, "")
        assert (folder / "a.py").read_bytes() != before == (repository / "a.py").read_bytes()
        found[plant.change + plant.old] = copy.run("a_test.py", folder / "log")
        copy.restore()
        assert os.path.samefile(folder / "a.py", repository / "a.py")
    copy.close()
    assert found.pop("guard never takenwidth < 0 and keep").test == "a_test.py::test_area"
    assert not any(ran.failed or ran.test for ran in found.values())


def test_tests_that_fail_where_all_is_imported_run_elsewhere(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (repository / "c_test.py").write_text(
        "import sys\n\nimport a\n\nIS_TERMINAL = sys.stderr.isatty  # pytest's capture is closed later\n\n\n"
        "def test_it():\n    assert not IS_TERMINAL() and a.area(2, 3) == 6\n"
    )
    kind = Kind("k", "", ("c_test.py",), ("a.py",), (plants.guards, plants.choices))
    folder = tmp_path_factory.mktemp("copies") / "tree"
    noticed = {}
    with closing(Copy(repository, folder, ("pytest",))) as copy:
        copy.collect("c_test.py")
        for plant in kind.plants(repository):
            copy.plant(plant, "")
            noticed[plant.old] = copy.run("c_test.py", folder / "log").failed
            copy.restore()
    assert noticed == {"width < 0 and keep": False, "min": True, "keep": True}


def test_a_page_tells_what_tests_of_a_commit_noticed(repository: Path) -> None:
    git = ["git", "-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run([*git, "add", "."], cwd=repository, check=True)
    subprocess.run([*git, "commit", "-qm", "first"], cwd=repository, check=True)
    with (repository / "a_test.py").open("a") as file:
        file.write("\n\ndef test_limit():\n    assert area(9) == 6\n")
    for test, expected in (
        ("a_test.py::test_area[1-2]", True),
        ("a_test.py::TestArea::test_area", True),
        ("a_test.py", True),
        ("a_test.py::test_limit", False),
        ("b_test.py", False),
    ):
        assert was_there(repository, "HEAD", test) is expected, test
    kind = Kind("k", "of a.py", ("a_test.py",), ("a.py",), (plants.guards, plants.numbers))
    names = [plant.name for plant in kind.plants(repository)]
    tests = ["a_test.py::test_area", "a_test.py::test_limit", ""]
    results = [
        {"kind": "k", "plant": name, "noticed": test[:9], "test": test}
        for name, test in zip(names, tests, strict=False)
    ]
    rows = list(rows_of(repository, [kind], results, [(names[2], "the same")], "HEAD"))
    assert rows == [(kind, f"| k: of a.py | {len(names)} | 3 | 1 | 2 | 1 |")]
    page = "| kind |\n|---|\n| k: of a.py | 0 |\n| other: stays | 0 |\n"
    assert written(page, rows) == page.replace("| k: of a.py | 0 |", rows[0][1])
    with pytest.raises(ValueError, match="found 0; add it to the page's table"):
        written("", rows)


def test_functions_change_where_they_are(repository: Path, tmp_path: Path) -> None:
    """What is not in a function, or runs at import, needs a process of its own."""
    warm, log = Warm(repository, dict(os.environ), True, ("pytest",)), tmp_path / "log"
    assert warm.collect("a_test.py") and not warm.collect("none_test.py")
    old = (repository / "a.py").read_text()
    answers = []
    for now, then in (("width < 0 and keep", "False"), ("* (height", "+ (height"), ("= 4", "= 5")):
        texts = {"file": str(repository / "a.py"), "old": old, "new": old.replace(now, then)}
        answers.append(warm.pytest(["-q", "a_test.py"], log, 600, **texts))
    warm.close()
    assert answers == [1, 0, COLD]


def test_functions_that_functions_gave_need_a_process_of_their_own(
    repository: Path, tmp_path: Path
) -> None:
    """A module keeps the old one."""
    made = "def times(n):\n    def of(x):\n        return [each * n for each in x]\n    return of\n"
    (repository / "c.py").write_text(f"{made}\n\ntwice = times(2)\n")
    (repository / "c_test.py").write_text(
        "import c\n\n\ndef test_it():\n    assert c.twice([3]) == [6]\n"
    )
    warm, log = Warm(repository, dict(os.environ), True, ("pytest",)), tmp_path / "log"
    assert warm.collect("c_test.py")
    old = (repository / "c.py").read_text()
    texts = {"file": str(repository / "c.py"), "old": old, "new": old.replace("each * n", "each")}
    assert warm.pytest(["-q", "c_test.py"], log, 600, **texts) == COLD
    warm.close()


def test_a_run_without_end_is_killed_and_the_next_goes_on(repository: Path, tmp_path: Path) -> None:
    (repository / "b_test.py").write_text(
        "import time\n\n\ndef test_sleep():\n    time.sleep(600)\n"
    )
    warm, log = Warm(repository, dict(os.environ), False, ("pytest",)), tmp_path / "log"
    assert warm.pytest(["-q", "b_test.py"], log, limit=2) == LATE
    assert warm.pytest(["-q", "a_test.py"], log, limit=600) == 0
    assert warm.pytest(["-q", "none_test.py"], log, limit=600) == 4  # pytest's: no such file
    warm.close()
    assert "1 passed" in log.read_text()


def test_the_command_lists_and_refuses() -> None:
    command = [sys.executable, "-m", "executorch.tools.planted"]
    listed = subprocess.run(
        [*command, "--list", "--only", "rope"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert "extension/llm/model/rope.py:_OLD_CONTEXT: one more: 8192" in listed.stdout
    wrong = subprocess.run(
        [*command, "--only", "none"], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert wrong.returncode == 2 and "expected one of condition" in wrong.stderr
