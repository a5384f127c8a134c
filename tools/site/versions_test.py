# SPDX-License-Identifier: BSD-3-Clause
"""Sites of versions beside each other: their order, and the switch from one to the other without a server."""

from __future__ import annotations

from pathlib import Path

import pytest

from executorch.test.e2e.chromium import Chromium, needs_chromium
from executorch.tools.site import seen, versions

SCRIPT = Path(versions.__file__).parent / "static" / "versions.js"
PAGE = """<!doctype html><html data-content_root="{root}"><head><script src="{root}versions.js"></script></head>
<body><a class="sidebar-brand" href="#">ExecuTorch</a></body></html>"""


def site(folder: Path, *pages: str) -> Path:
    """As Sphinx writes it: each page knows where the first one is."""
    for page in pages:
        path = folder / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PAGE.format(root="../" * page.count("/") or "./"))
    (folder / "versions.js").write_text(SCRIPT.read_text())
    versions.write_pages(folder)
    return folder


def test_versions_are_listed_with_the_latest_release_first(tmp_path: Path) -> None:
    html = site(tmp_path / "html", "index.html", "guide/a.html", "source/b.h.html")
    assert (html / "pages.js").read_text() == 'var SITE_PAGES = ["guide/a.html", "index.html"];\n'
    for name in ("1.9", "main", "next", "1.10", "stable"):
        found = versions.add(tmp_path / "all", name, html)
    assert found == ["stable", "main", "1.10", "1.9", "next"]
    listed = (tmp_path / "all/versions.js").read_text()
    assert listed == 'var SITE_VERSIONS = ["stable", "main", "1.10", "1.9", "next"];\n'


def test_what_is_no_site_and_no_name_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "html").mkdir()
    command = [str(tmp_path / "all"), "main", "--html", str(tmp_path / "html")]
    assert versions.main(command) == 2
    assert "expected a site (make site), found no pages.js" in capsys.readouterr().err
    site(tmp_path / "html", "index.html")
    command[1] = "../main"
    assert versions.main(command) == 2 and not (tmp_path / "main").exists()


@needs_chromium
def test_the_switch_leads_to_the_same_page_or_the_first(tmp_path: Path) -> None:
    """Pages that a version lacks are its first one; a site that stands alone has no switch."""
    new = site(tmp_path / "new", "index.html", "guide/a.html", "guide/b.html")
    old = site(tmp_path / "old", "index.html", "guide/a.html")
    for name, html in (("main", new), ("1.3", old)):
        versions.add(tmp_path / "all", name, html)
    select = "document.querySelector('.versions select')"
    with Chromium(tmp_path / "profile") as browser:
        for page, other in (("guide/a.html", "guide/a.html"), ("guide/b.html", "index.html")):
            browser.open((tmp_path / "all/main" / page).as_uri() + "?x=1#y")
            browser.wait_for(f"{select} !== null")
            assert browser.value(f"[...{select}.options].map((each) => each.value)") == [
                "main",
                "1.3",
            ]
            assert browser.value(f"{select}.value") == "main"
            seen.choose_version(browser, "1.3", f"all/1.3/{other}")
        browser.open((new / "index.html").as_uri())
        assert browser.value("document.querySelector('.versions')") is None
        assert browser.exceptions == []
