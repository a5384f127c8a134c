# SPDX-License-Identifier: BSD-3-Clause
"""The commands: times are recorded, tests in the wrong tier named, a change runs what it reaches."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from executorch.tools.tiers import __main__ as commands
from executorch.tools.tiers import times
from executorch.tools.tiers.reach import Choice
from executorch.tools.tiers.times import Cost, Times

HERE = "tools/tiers/commands_test.py"
NAME = f"{HERE}::test_tests_in_the_wrong_tier_are_named"


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of result files, and a file of times with a test that is gone."""
    monkeypatch.setattr(commands, "RESULTS", tmp_path)
    monkeypatch.setattr(times, "FILE", tmp_path / "times.tsv")
    known = Times({f"{HERE}::test_" + "gone": Cost(9)}, {"gone_test.py": Cost(1)})
    times.write(known, tmp_path / "times.tsv")
    monkeypatch.setattr(times, "read", lambda read=times.read: read(tmp_path / "times.tsv"))
    monkeypatch.setattr(
        times, "write", lambda now, write=times.write: write(now, tmp_path / "times.tsv")
    )
    return tmp_path


def say(folder: Path, name: str, seconds: float) -> None:
    module, _, test = NAME.partition("::")
    case = f'<testcase classname="{module[:-3].replace("/", ".")}" name="{test}"><properties>'
    case += f'<property name="processor_seconds" value="{seconds}"/></properties></testcase>'
    (folder / f"pytest-{name}.xml").write_text(
        f"<testsuites><testsuite>{case}</testsuite></testsuites>"
    )


def test_times_are_recorded(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    say(results, "fast", 4.2)
    assert commands.main(["record"]) == 0
    assert times.read() == Times({NAME: Cost(4)}, {})
    assert capsys.readouterr().out.splitlines()[-1] == "1 tests read, 1 take more than 1 s"


@pytest.mark.parametrize(("again", "code"), [(0.2, 0), (4.0, 1)])
def test_tests_in_the_wrong_tier_are_named(
    again: float,
    code: int,
    results: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The first test of a process imports what others use: the second time counts."""
    say(results, "fast", 4.2)
    asked = []

    def measure(command: list[str], **options: Any) -> None:
        asked.append(command)
        say(results, "twice", again)

    monkeypatch.setattr(subprocess, "run", measure)
    assert commands.main(["over"]) == code
    assert asked[0][-2:] == ["--twice", NAME]
    message = f"{NAME}: expected at most 1 s of processor time in the fast tier, found 4.0 s"
    assert (message in capsys.readouterr().out) == bool(code)


def test_a_change_runs_what_it_reaches(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        return subprocess.CompletedProcess(command, 5)

    monkeypatch.setattr(subprocess, "run", run)
    choice = Choice(["a_test.py"], ["b_test.py", "c_test.py"], 2.0)
    monkeypatch.setattr(commands, "reached", lambda *given: ([Path("a.py")], choice))
    assert commands.main(["reached", "--", "-x"]) == 0
    assert asked[0][-2:] == ["a_test.py", "-x"] and asked[0][-6:-3] == ["-q", "--tier", "fast"]
    out = capsys.readouterr().out
    assert (
        out.startswith("1 files changed; 1 test files run")
        and "2 more are reached; `make test`" in out
    )
