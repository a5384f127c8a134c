# SPDX-License-Identifier: BSD-3-Clause
"""Documents tell the truth: their commands exist, their links lead somewhere, their Python runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from executorch.test.repository.sources import ROOT, files
from tools.backend_operators import pages

PAGES = [
    p
    for p in files()
    if p.suffix == ".md" and not str(p).startswith(("test/requirements", "test/api"))
]


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_somewhere(page: Path) -> None:
    text = (ROOT / page).read_text()
    prose = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", prose)
    missing = [t for t in targets if not (ROOT / page.parent / t).exists()]
    assert not missing


INSTALLED = re.compile(
    r"""pip3? install (?:-\S+ )*["']?executorch\b.*|^\s*(?:install_requires|dependencies) *=.*["']executorch\b.*""",
    re.MULTILINE,
)


def test_pages_messages_and_templates_install_what_they_are_of() -> None:
    """The index has another package under this name. Pages of the documents are quoted, and name it."""
    quoted = ("test/documents/pages", "test/requirements", "test/repository/documents_test.py")
    suffixes = (".md", ".py", ".cpp", ".h", ".sh", ".toml", ".ipynb", ".yaml", ".txt", ".html")
    found = {
        str(path): lines
        for path in files()
        if path.suffix in suffixes and not str(path).startswith(quoted)
        if (lines := INSTALLED.findall((ROOT / path).read_text(errors="replace")))
    }
    assert found == {}


@pytest.mark.parametrize(
    "line",
    [
        "pip install executorch",
        "pip install -U 'executorch[llm]'",
        'pip3 install "executorch==1.4.1"',
        'dependencies = ["executorch"]',
    ],
)
def test_what_would_install_another_package_is_seen(line: str) -> None:
    assert INSTALLED.search(line)
    assert not INSTALLED.search("pip install ./executorch; pip install '.[llm]'")


@pytest.mark.req("BLD-C03")
def test_cmake_is_given_its_folder_with_the_flag_that_it_has() -> None:
    """One of upstream's pages has `cmake -b`, which CMake takes for the name of a source folder."""
    lines = [
        (str(path), line)
        for path in files()
        if path.suffix in (".md", ".py", ".sh", ".txt") or path.name == "Makefile"
        if not str(path).startswith("test/requirements")
        for line in (ROOT / path).read_text(errors="replace").splitlines()
        if re.search(r"\bcmake\b.* -[bB] ?[\w\"$]", line)
    ]
    assert any(re.search(r" -B ?[\w\"$]", line) for _, line in lines)
    assert [found for found in lines if re.search(r"\bcmake (?!.*--build).* -b ", found[1])] == []


DESIGN = [page for page in PAGES if page.parent == Path("docs/design")]


@pytest.mark.parametrize("page", DESIGN, ids=str)
def test_a_design_page_is_one_page_with_its_context(page: Path) -> None:
    text = (ROOT / page).read_text()
    number, name = page.stem.split("-", 1)
    assert text.startswith(f"# {number}: ") and name
    assert len(text.split()) <= 1000
    assert "**Context.**" in text or page.stem == "000-decisions"
    assert len([other for other in DESIGN if other.name.startswith(number)]) == 1


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_make_targets_exist(page: Path) -> None:
    defined = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    named = set(re.findall(r"`make ([a-z-]+)", (ROOT / page).read_text()))
    named |= set(re.findall(r"^make ([a-z-]+)", (ROOT / page).read_text(), re.M))
    assert named <= defined, named - defined


def test_the_makefile_offers_what_is_promised() -> None:
    promised = [
        "demo",
        "build",
        "test",
        "test-slow",
        "test-full",
        "check",
        "bench",
        "lint",
        "format",
        "size",
        "requirements",
        "docs",
        "help",
    ]
    defined = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.M)
    assert set(promised) <= set(defined)


def test_the_readme_maps_all_folders() -> None:
    named = set(re.findall(r"^\| `([\w-]+)/` \|", (ROOT / "README.md").read_text(), re.M))
    assert named == {path.parts[0] for path in files() if len(path.parts) > 1} - {
        ".ci",
        ".github",
        ".Package.swift",
    }


def test_documents_do_not_name_machines() -> None:
    """No path of one machine, no package mirror, no user's home."""
    pattern = re.compile(r"(?<![\w.])/(work|home/\w+|root)/|https?://(localhost|\d+\.\d+\.)")
    offences = [
        f"{path}:{number}: {line.strip()[:80]}"
        for path in files()
        if path.suffix
        in (".md", ".py", ".sh", ".cpp", ".h", ".cmake", ".toml", ".txt", ".yaml", ".json")
        and path != Path("test/repository/documents_test.py")
        for number, line in enumerate((ROOT / path).read_text(errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]
    assert not offences, "\n".join(offences)


@pytest.mark.req("XQ-005", "VK-003")
def test_tables_of_backends_operators_are_of_this_tree() -> None:
    made = pages()
    for path, text in made.items():
        assert path.read_text() == text, f"{path.name}: make docs writes it anew"
    page = ROOT / "docs/guide/op-support.csv"
    assert page in made and "(op-support.csv)" in (page.parent / "xnnpack.md").read_text()


def test_the_changelog_is_short() -> None:
    lines = (ROOT / "docs/CHANGELOG.md").read_text().splitlines()
    long = [line for line in lines if len(line) > 160]
    assert len(lines) <= 120 and not long, (len(lines), long)
