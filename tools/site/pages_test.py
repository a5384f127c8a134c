# SPDX-License-Identifier: BSD-3-Clause
"""Every text of the repository is a page of the site under one name, or is left out with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from executorch.test.repository.sources import files
from executorch.tools.site.pages import Group, Site, name_of, site


@pytest.mark.parametrize(
    "path, name",
    [
        ("README.md", "index"),
        ("docs/README.md", "documents"),
        ("docs/guide/README.md", "guide/index"),
        ("docs/guide/xnnpack.md", "guide/xnnpack"),
        ("docs/CHANGELOG.md", "changelog"),
        ("docs/backends.md", "backends"),
        ("backends/README.md", "backends/index"),
        ("runtime/COMPATIBILITY.md", "runtime/compatibility"),
    ],
)
def test_names(path: str, name: str) -> None:
    assert name_of(Path(path)) == name


def test_every_text_is_a_page_or_left_out() -> None:
    made = site()
    texts = {path for path in files() if path.suffix in (".md", ".ipynb")}
    assert len(texts) > 150
    left_out = {path for path in texts if made.is_left_out(path)}
    assert sorted(texts - left_out - set(made.by_path)) == [], "tools/site/sections.yaml"
    assert left_out.isdisjoint(made.by_path)
    assert all(made.left_out.values())


def test_every_pattern_of_what_is_left_out_is_of_something() -> None:
    made = site()
    texts = [path for path in files() if path.suffix == ".md"]
    for pattern in made.left_out:
        only = Site({"Left out": {pattern: "a reason"}})
        assert any(map(only.is_left_out, texts)), pattern


def tree(root: Path, *paths: str) -> Path:
    for path in ("README.md", *paths):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"# {path}\n")
    return root


def test_groups_and_order(tmp_path: Path) -> None:
    tree(tmp_path, "docs/a.md", "docs/b.md", "docs/c.md")
    group = {"title": "More", "name": "more", "about": "What else.", "pages": ["docs/*.md"]}
    made = Site({"One": ["docs/b.md", "@made", group]}, tmp_path)
    assert [page.name for page in made] == ["index", "b", "made", "more", "a", "c"]
    (section,) = made.sections
    more = section.entries[2]
    assert isinstance(more, Group) and [page.name for page in more.pages] == ["a", "c"]


def test_a_pattern_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no file is docs/d.md"):
        Site({"One": ["docs/d.md"]}, tree(tmp_path, "docs/a.md"))


def test_two_pages_of_one_name_are_refused(tmp_path: Path) -> None:
    tree(tmp_path, "docs/kernels/README.md", "kernels/README.md")
    with pytest.raises(ValueError, match="two pages have one name: kernels/index"):
        Site({"One": ["docs/kernels/README.md", "kernels/README.md"]}, tmp_path)
