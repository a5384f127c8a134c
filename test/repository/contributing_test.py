# SPDX-License-Identifier: BSD-3-Clause
"""CONTRIBUTING.md's first change: its commands of Git, run from a fork to a merged branch, and what to write; branches
that follow what passes."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from executorch.test.repository.sources import ROOT

TEXT = (
    (ROOT / "CONTRIBUTING.md").read_text().partition("## A first change\n")[2].partition("\n## ")[0]
)
BLOCKS = re.findall(r"^```bash\n(.*?)^```$", TEXT, re.M | re.S)
DOCUMENTED = """git remote add upstream|git remote -v|git fetch --all --prune|git checkout main
git merge upstream/main|git push|git checkout -b"""


def shell(script: str, folder: Path, variables: dict[str, str]) -> str:
    done = subprocess.run(
        ["bash", "-euc", script],
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, str]:
    """Of Git, whatever this machine's user has."""
    path = tmp_path / "config"
    path.write_text("[user]\n\tname = a\n\temail = a@b\n[init]\n\tdefaultBranch = main\n")
    return {"GIT_CONFIG_GLOBAL": str(path), "GIT_CONFIG_NOSYSTEM": "1"}


@pytest.mark.req("PRJ-026")
def test_from_a_fork_to_a_merged_branch(tmp_path: Path, settings: dict[str, str]) -> None:
    places = {name: str(tmp_path / f"{name.lower()}.git") for name in ("UPSTREAM", "FORK")}
    variables = settings | places
    shell(
        "git init -q start && cd start && touch a && git add a && git commit -qm a\n"
        "git clone -q --bare . $UPSTREAM && git clone -q --bare . $FORK",
        tmp_path,
        variables,
    )
    begin, publish, go_on = BLOCKS
    lines = begin.splitlines()
    assert f"upstream\t{places['UPSTREAM']} (push)" in shell(begin, tmp_path, variables)
    branch = lines[-1].removeprefix("git checkout -b ")
    assert re.fullmatch(r"[a-z]+/[a-z-]+", branch)
    tree = tmp_path / "executorch"
    (tree / "b").touch()
    shell(publish, tree, variables)
    assert branch in shell("git --git-dir $FORK branch --list", tmp_path, variables)
    # Who reviews merges it.
    shell(f"git push -q $UPSTREAM {branch}:main", tree, variables)
    shell(go_on, tree, variables)
    assert (tree / "b").exists()
    shown = "git --git-dir {} ls-tree --name-only main"
    assert shell(shown.format("$FORK"), tmp_path, variables) == "a\nb\n"


@pytest.mark.req("PRJ-026")
def test_documented_commands_and_the_form_are_there() -> None:
    commands = "\n".join(BLOCKS)
    assert [each for each in re.split(r"[|\n]", DOCUMENTED) if each not in commands] == []
    assert (ROOT / ".github/PULL_REQUEST_TEMPLATE.md").is_file() and "draft" in TEXT


def test_what_it_says_to_write_is_there() -> None:
    (path,) = re.findall(r"into\n`(kernels/[\w/]+\.py)`", TEXT)
    (row,) = re.findall(r"`(case\(.*?\)\))` at the end of `_unary\(\)`", TEXT)
    text = (ROOT / path).read_text()
    assert "def _unary() -> list[Case]:" in text and row not in text
    assert "erfc" in text and row.startswith('case("erfc.out", t(')


@pytest.mark.req("PRJ-032")
def test_viable_strict_follows_what_passes_and_never_goes_back(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    shell(
        "git init -q start && cd start && git commit -qm a --allow-empty\n"
        "git clone -q --bare . ../origin.git && git remote add origin ../origin.git",
        tmp_path,
        settings,
    )
    tree, script = tmp_path / "start", ROOT / "scripts/viable_strict.sh"

    def passed() -> str:
        printed = shell(str(script), tree, settings)
        place = shell(
            "git --git-dir ../origin.git log -1 --format=%s viable/strict", tree, settings
        )
        return f"{printed.split()[1]} {place.strip()}"

    assert passed() == "is a"
    shell("git commit -qm b --allow-empty", tree, settings)
    assert passed() == "is b" and passed() == "has b"
    shell("git checkout -q HEAD~1", tree, settings)
    assert passed() == "has b"
