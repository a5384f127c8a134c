# SPDX-License-Identifier: BSD-3-Clause
"""A full run that was stopped goes on: steps that passed on a commit are not run again."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from executorch.tools.results import full_run
from executorch.tools.results.full_run import Step


def appending(name: str, file: Path, code: int = 0) -> Step:
    """A step that leaves a line in `file`, says "done", and ends with `code`."""
    script = f"open({str(file)!r}, 'a').write({name + chr(10)!r}); print('done'); raise SystemExit({code})"
    return Step(name, [[sys.executable, "-c", script]])


@pytest.fixture
def of_this_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is written into the tree."""
    monkeypatch.setattr(full_run, "ROOT", tmp_path)
    monkeypatch.setattr(full_run, "RUNS", tmp_path / "runs")
    monkeypatch.setattr(full_run, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(full_run, "PAGE", tmp_path / "docs" / "full-run.md")
    return tmp_path


def test_a_stopped_run_goes_on(of_this_test: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = of_this_test / "ran"
    first, second = appending("the first, of two", file), appending("the second", file)
    monkeypatch.setattr(full_run, "commit", lambda: "abc1234")
    monkeypatch.setattr(full_run, "steps", lambda build: [first, second])
    assert full_run.main(["--only", "the first, of two"]) == 0
    assert (of_this_test / "runs/abc1234/the-first-of-two.json").is_file()
    assert "1 of 2 steps have ended, 0 failed" in full_run.PAGE.read_text()
    assert full_run.main([]) == 0
    assert file.read_text().splitlines() == [first.name, second.name]  # the first was not run again
    rows = re.findall(r"^\| (the .*?) \| (\w+) \|.* (\w+) \|$", full_run.PAGE.read_text(), re.M)
    assert rows == [(first.name, "passed", "done"), (second.name, "passed", "done")]
    monkeypatch.setattr(full_run, "commit", lambda: "def5678")
    assert full_run.main([]) == 0
    assert len(file.read_text().splitlines()) == 4, "another commit begins anew"
    assert full_run.main(["--again"]) == 0
    assert len(file.read_text().splitlines()) == 6


def test_what_failed_is_run_again(of_this_test: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = of_this_test / "ran"
    monkeypatch.setattr(full_run, "commit", lambda: "abc1234")
    monkeypatch.setattr(full_run, "steps", lambda build: [appending("a step", file, code=3)])
    assert full_run.main([]) == 1
    assert "| a step | FAILED |" in full_run.PAGE.read_text()
    monkeypatch.setattr(full_run, "steps", lambda build: [appending("a step", file)])
    assert full_run.main([]) == 0
    assert "| a step | passed |" in full_run.PAGE.read_text()


def test_nothing_is_kept_of_files_that_are_not_committed(
    of_this_test: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = of_this_test / "ran"
    monkeypatch.setattr(full_run, "commit", lambda: "abc1234-changed")
    monkeypatch.setattr(full_run, "steps", lambda build: [appending("a step", file)])
    assert [full_run.main([]), full_run.main([])] == [0, 0]
    assert file.read_text().splitlines() == ["a step", "a step"]


def test_every_step_has_its_file_and_its_build(tmp_path: Path) -> None:
    """No step takes what another left in the tree: each begins with the build that it runs on."""
    every = full_run.steps(tmp_path)
    assert len({step.file_name for step in every}) == len(every)
    for step in every:
        assert step.commands[0][:2] == ["cmake", "--preset"], step.name
        preset = (
            "asan"
            if step.name.endswith("asan")
            else "tsan"
            if step.name.endswith("tsan")
            else "linux"
        )
        assert step.commands[0][2] == preset, step.name
    assert {"full tests of kernels", "full tests of test/hardening"} <= {
        step.name for step in every
    }
