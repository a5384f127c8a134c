# SPDX-License-Identifier: BSD-3-Clause
"""Links of texts, as their pages have them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from executorch.tools.site.links import DeadLink, Links
from executorch.tools.site.pages import Site, site

PAGE = Path("docs/guide/a.md")


@pytest.fixture
def links(tmp_path: Path) -> Links:
    texts = ("README.md", str(PAGE), "docs/b.md", "kernels/README.md", "docs/design/001-x.md")
    for path in (*texts, "kernels/table.yaml", "docs/images/x.png", "test/api/one.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    group = {"title": "Design", "name": "design/index", "about": ".", "pages": ["docs/design/*"]}
    pages = [str(PAGE), "docs/b.md", "kernels/README.md", group]
    return Links(Site({"One": pages}, tmp_path))


@pytest.mark.parametrize(
    "text, made",
    [
        ("[b](../b.md)", "[b](/b.md)"),
        ("[b](../b.md#part)", "[b](/b.md#part)"),
        ("[home](../../README.md)", "[home](/index.md)"),
        ("[here](#part)", "[here](#part)"),
        ("[kernels](../../kernels/README.md)", "[kernels](/kernels/index.md)"),
        ("[kernels](../../kernels)", "[kernels](/kernels/index.md)"),
        ("[all](../design)", "[all](/design/index.md)"),
        ("[table](../../kernels/table.yaml)", "[table](source:kernels/table.yaml)"),
        ("[line](../../kernels/table.yaml#L3)", "[line](source:kernels/table.yaml#L3)"),
        ("[api](../../test/api)", "[api](source:test/api)"),
        ("![a [b]](../images/x.png)", "![a [b]](/images/x.png)"),
        ("[`code`](../b.md)", "[`code`](/b.md)"),
        ('[b](../b.md "a title")', '[b](/b.md "a title")'),
        ("[two\nlines](../b.md)", "[two\nlines](/b.md)"),
        ("[out](https://example.org/b.md)", "[out](https://example.org/b.md)"),
        ("`[b](gone.md)` [b](../b.md)", "`[b](gone.md)` [b](/b.md)"),
        ("```text\n[b](gone.md)\n```\n[b](../b.md)", "```text\n[b](gone.md)\n```\n[b](/b.md)"),
        ("- x\n\n  ```\n  a[i](j)\n  ```\n", "- x\n\n  ```\n  a[i](j)\n  ```\n"),
    ],
)
def test_targets(links: Links, text: str, made: str) -> None:
    assert links.rewritten(PAGE, text) == made


def test_what_is_no_page_is_collected(links: Links) -> None:
    links.rewritten(
        PAGE,
        "[a](../b.md) [b](../../kernels/table.yaml#L3) ![c](../images/x.png) [d](../../test/api)",
    )
    assert links.sources == {Path("kernels/table.yaml"), Path("test/api")}
    assert links.images == {Path("docs/images/x.png")}


@pytest.mark.parametrize("target", ["c.md", "../../kernels/gone.yaml", "../../../outside.md"])
def test_dead_links_are_refused(links: Links, target: str) -> None:
    (links.site.root.parent / "outside.md").write_text("")
    with pytest.raises(DeadLink, match=f"docs/guide/a.md: nothing is at {target}"):
        links.rewritten(PAGE, f"text [x]({target})")


@pytest.mark.req("PRJ-C03")
def test_no_page_sends_readers_to_another_version() -> None:
    """Upstream's documents link pages of 0.4 and 1.0, and of torch 2.1."""
    old = re.compile(r"pytorch\.org/(?:executorch|docs)/\d[^\s)]*")
    made = site()
    assert len(made.by_path) > 150
    found = {path: old.findall((made.root / path).read_text()) for path in made.by_path}
    assert {path: links for path, links in found.items() if links} == {}
