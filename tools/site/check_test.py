# SPDX-License-Identifier: BSD-3-Clause
"""The check of built pages notices what is dead, silent or large."""

from __future__ import annotations

from pathlib import Path

import pytest

from executorch.tools.site import check

GOOD = """<html><head><meta http-equiv="refresh" content="0; url=folder/b.html#part"></head>
<body id="top"><a href="folder/b.html#part">b</a> <a href="#top">here</a> <a href="x.txt">x</a>
<a href="https://example.org/gone">out</a> <a href="folder/b.html?highlight=a#part">b</a>
<img src="p.png" alt="a picture"></body>"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.html").write_text(GOOD)
    (tmp_path / "folder/b.html").write_text('<h1 id="part"><a href="../a.html">a</a></h1>')
    (tmp_path / "x.txt").write_text("x")
    (tmp_path / "p.png").write_text("p")
    return tmp_path


def test_good_pages_have_no_problem(site: Path) -> None:
    assert check.problems(site) == []


@pytest.mark.parametrize(
    "was, fault, problem",
    [
        ('href="x.txt"', 'href="y.txt"', "a.html: y.txt: no such file"),
        ('href="#top"', 'href="#bottom"', "a.html: #bottom: no such anchor"),
        ("b.html#part", "b.html#parts", "a.html: folder/b.html#parts: no such anchor"),
        ('href="x.txt"', 'href="folder"', "a.html: folder: no such file"),
        ('href="x.txt"', 'href="source:x.txt"', "a.html: source:x.txt: of no page"),
        ('alt="a picture"', 'alt=""', "a.html: the picture p.png has no alt text"),
        ("url=folder/b.html", "url=folder/c.html", "a.html: folder/c.html#part: no such file"),
    ],
)
def test_faults_are_seen(site: Path, was: str, fault: str, problem: str) -> None:
    assert was in GOOD
    (site / "a.html").write_text(GOOD.replace(was, fault, 1))
    assert problem in check.problems(site)


def test_large_pages_are_seen(site: Path) -> None:
    (site / "folder/b.html").write_text('<h1 id="part"></h1>' + " " * check.LARGEST)
    assert check.problems(site) == [
        "folder/b.html: expected less than 1,000,000 bytes, found 1,000,019"
    ]
