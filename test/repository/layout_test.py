# SPDX-License-Identifier: BSD-3-Clause
"""Sizes and places: the root, the depth of folders, lengths of files, what stands at the top of each."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from executorch.test.repository.sources import ROOT, files, is_compat, with_suffix

ROOT_ENTRIES = 28  # with Package.swift; hidden ones aside: tools expect them there
FOLDER_FILES = 30
DEPTH = 4
PATH_LENGTH = 90
LINES = 1000
# Folders whose shape the documents print. Modules that are marked `# compat` are left out everywhere.
DOCUMENTED = (
    "runtime/core/",
    "docs/design/",
    "exir/passes/",
    "extension/text/tokenizers/pytorch_tokenizers/",
    "extension/llm/runner/",
    "backends/vulkan/runtime/graph/ops/",
)

# Projects of Android's tools, whose folders are Java's packages, and of Apple's, whose folders are frameworks.
PLATFORM = ("extension/android/", "examples/demo-apps/", "extension/benchmark/android/", "extension/apple/",
            "extension/llm/apple/")  # fmt: skip


def ours(path: Path) -> bool:
    return not (str(path).startswith(DOCUMENTED) or (path.suffix == ".py" and is_compat(path)))


def test_the_root_is_small() -> None:
    entries = {path.parts[0] for path in files() if not path.parts[0].startswith(".")}
    assert len(entries) <= ROOT_ENTRIES, sorted(entries)


def test_folders_are_shallow_and_small() -> None:
    deep = [
        str(p)
        for p in files()
        if ours(p) and not str(p).startswith(PLATFORM) and len(p.parts) - 1 > DEPTH
    ]
    assert not deep, "\n".join(deep)
    counts = Counter(str(p.parent) for p in files() if ours(p) and len(p.parts) > 1)
    crowded = {folder: count for folder, count in counts.items() if count > FOLDER_FILES}
    assert not crowded, crowded


def test_what_is_named_as_a_test_is_one() -> None:
    """Wheels leave out files of these names (pyproject.toml), and pytest collects them."""
    named = [
        p for p in with_suffix(".py") if p.stem.endswith("_test") or p.stem.startswith("test_")
    ]
    without = [str(p) for p in named if "def test_" not in (ROOT / p).read_text()]
    assert not without, "\n".join(without)


def test_paths_are_short() -> None:
    long = [
        str(p) for p in files() if len(str(p)) > PATH_LENGTH and not str(p).startswith(PLATFORM)
    ]
    assert not long, "\n".join(long)


def test_sources_are_short() -> None:
    counts = {p: (ROOT / p).read_text().count("\n") for p in with_suffix(".h", ".cpp", ".py")}
    long = {str(p): count for p, count in counts.items() if count > LINES}
    assert not long, long


@pytest.mark.parametrize("suffixes", [(".h", ".cpp"), (".py",), (".sh",)], ids="/".join)
def test_every_source_says_what_it_is_for(suffixes: tuple[str, ...]) -> None:
    offences = []
    for path in with_suffix(*suffixes):
        head = (ROOT / path).read_text().splitlines()[:3]
        marked = [
            i for i, line in enumerate(head) if "SPDX-License-Identifier: BSD-3-Clause" in line
        ]
        if not marked or len(head) < marked[0] + 2 or not head[marked[0] + 1].strip():
            offences.append(str(path))
    assert not offences, "\n".join(offences)


def test_every_root_folder_and_backend_has_a_readme_of_one_screen() -> None:
    """What it may depend on, what to read first, how to test it alone."""
    folders = {
        Path(p.parts[0]) for p in files() if len(p.parts) > 1 and not p.parts[0].startswith(".")
    }
    folders |= {p.parents[1] for p in files() if p.match("backends/*/aot/*")}
    for folder in sorted(folders):
        assert folder / "README.md" in files(), f"no README.md in {folder}"
        text = (ROOT / folder / "README.md").read_text()
        assert text.count("\n") <= 30, f"{folder}: longer than one screen"
        for words in ("May depend on", "Read first", "Test"):
            assert words.lower() in text.lower(), f"{folder}/README.md does not say: {words}"


def test_no_todo_without_an_issue() -> None:
    pattern = re.compile(r"\bTODO\b(?!\(#\d+\))|\bFIXME\b|\bXXX\b")
    offences = [
        f"{path}:{number}: {line.strip()}"
        for path in with_suffix(".h", ".cpp", ".py", ".cmake", ".fbs")
        if path != Path("test/repository/layout_test.py")
        for number, line in enumerate((ROOT / path).read_text().splitlines(), 1)
        if pattern.search(line)
    ]
    assert not offences, "\n".join(offences)
