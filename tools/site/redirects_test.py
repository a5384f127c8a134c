# SPDX-License-Identifier: BSD-3-Clause
"""Names of pages in upstream's documents: those of the requirements are in the table, and lead to a page of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from executorch.backends.discovery import all_backends
from executorch.cli.table import COMMANDS
from executorch.tools.site import redirects
from executorch.tools.site.check import read
from executorch.tools.site.generated import operators_name
from executorch.tools.site.pages import ROOT, site
from executorch.tools.site.redirects import Name
from executorch.tools.site.reference.cpp import CPP
from executorch.tools.site.reference.python import MODULES

ROWS = ROOT / "test/requirements/16-docs-examples-project.md"
NAMED = re.compile(r"[a-z][a-z0-9_]*(?:[-/][a-z0-9_]+)*")
WORDS = {"platform", "aliases", "tutorials"}  # of these rows, that are no names


def expanded(text: str) -> Iterator[str]:
    """a-x, a-y of a-{x,y}."""
    found = re.search(r"\{([^{}]*)\}", text)
    if not found:
        yield text
        return
    for choice in found[1].split(","):
        yield from expanded(text[: found.start()] + choice.strip() + text[found.end() :])


def named(row: str) -> set[str]:
    """Names that a row of the requirements promises, of those that are written out."""
    (line,) = (each for each in ROWS.read_text().splitlines() if each.startswith(f"| {row} |"))
    parts = re.sub(r"\([^)]*\)", "", line.split("|")[3]).replace("`", "")
    words = re.split(r", (?![^{]*\})| \+ | ", parts)
    return {each for word in words for each in expanded(word) if NAMED.fullmatch(each)} - WORDS


def pages() -> set[str]:
    """Names of all pages of the site."""
    own = {page.name for page in site()}
    commands = {f"commands/{each.name}" for each in COMMANDS}
    tables = {operators_name(each) for each in all_backends().values() if each.operators}
    return own | commands | tables | {f"api/{each.name}" for each in MODULES} | {CPP}


TABLE = {name.name: name for name in redirects.table()}


def test_each_name_stands_once() -> None:
    assert len(TABLE) == len(redirects.table()) > 150


@pytest.mark.parametrize(
    "row",
    [
        pytest.param("PRJ-011", marks=pytest.mark.req("PRJ-011")),
        pytest.param("PRJ-013", marks=pytest.mark.req("PRJ-013")),
        "PRJ-012",
        "PRJ-008",
    ],
)
def test_names_of_the_requirements_are_in_the_table(row: str) -> None:
    names = named(row)
    assert len(names) > 1 and sorted(names - set(TABLE)) == []


@pytest.mark.req("PRJ-012")
@pytest.mark.parametrize(
    "backend", "xnnpack coreml mps vulkan arm-ethos-u arm-vgf nxp samsung".split()
)
def test_each_backend_has_its_names(backend: str) -> None:
    assert TABLE[f"backends/{backend}/{backend}-overview"].target
    written = [each for each in TABLE if each.startswith(f"backends/{backend}/")]
    assert len(written) >= (1 if backend == "mps" else 3)


@pytest.mark.req("PRJ-C06")
def test_tutorials_that_changed_their_names_have_both() -> None:
    assert TABLE["tutorial-arm"] == Name("tutorial-arm", TABLE["tutorial-arm-ethos-u"].target)
    assert TABLE["android-examples"].target and TABLE["ios-examples"].target


def test_names_lead_to_pages_or_say_why_not() -> None:
    there = pages()
    assert [each for each in TABLE.values() if each.target and each.page not in there] == []
    assert [each for each in TABLE.values() if bool(each.target) == bool(each.why)] == []


@pytest.mark.req("PRJ-006", "BLD-C06")
def test_a_redirect_leads_from_its_folder_after_its_seconds(tmp_path: Path) -> None:
    names = [
        Name("getting-started-setup", "guide/a#install"),
        Name("backends/x/x-overview", "backends/x/index"),
        Name("guide/a", "guide/a"),
        Name("gone", "", "there is none"),
    ]
    redirects.write(tmp_path, names)
    written = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.html"))
    assert written == ["backends/x/x-overview.html", "getting-started-setup.html"]
    text = (tmp_path / "getting-started-setup.html").read_text()
    assert '<meta http-equiv="refresh" content="3; url=guide/a.html#install">' in text
    assert "index.html" in read(tmp_path / "backends/x/x-overview.html").addresses
    assert 'content="0; url=index.html"' in (tmp_path / "backends/x/x-overview.html").read_text()


def test_a_redirect_does_not_write_over_a_page(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("ours")
    with pytest.raises(ValueError, match="a is a page of ours, not b"):
        redirects.write(tmp_path, [Name("a", "b")])
