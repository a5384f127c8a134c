# SPDX-License-Identifier: BSD-3-Clause
"""The whole site, built: no warning, no dead link, no page that is large, answers where they are asked for, text that
can be read in light and dark and on a phone."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from executorch.test.e2e.chromium import Chromium, needs_chromium
from executorch.tools.site import check, redirects, seen, versions
from executorch.tools.site.pages import ROOT, site

pytestmark = pytest.mark.full
pytest.importorskip("furo", reason="needs Sphinx and furo (scripts/requirements-site.txt)")

# One of each kind: the first page, tables, pictures, code, generated pages, files, the search.
LOOKED_AT = """index guide/index guide/debugging guide/getting_started backends commands/export api/executorch.runtime
api/cpp api/cpp/extension/module/module
examples/demo/mobilenet_v2 backends/xnnpack/operators-xnnpack design/020-xnnpack results/speed
source/extension/c/executorch.h guide/errors search""".split()
PAGE = ROOT / "extension" / "wasm" / "page"  # as much of what Emscripten makes


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Warnings of Sphinx are errors, and what check.problems() finds."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "executorch.tools.site", "--out", str(folder)]
    command += ["--edit", "https://host/edit/main/{path}", "--try", str(PAGE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.mark.req("PRJ-001")
def test_the_site_builds_without_a_warning_and_its_links_lead_somewhere(html: Path) -> None:
    assert check.problems(html) == []
    assert [page.name for page in site() if not (html / f"{page.name}.html").is_file()] == []
    assert len(list(html.rglob("*.html"))) > 400


def test_the_first_page_leads_to_the_one_that_runs_programs(html: Path) -> None:
    assert 'href="try/index.html"' in (html / "index.html").read_text()
    assert (html / "try" / "page.mjs").is_file()


@pytest.mark.req("PRJ-006", "PRJ-011", "PRJ-012", "PRJ-013")
def test_names_of_the_documents_lead_to_pages(html: Path) -> None:
    for name in redirects.table():
        if name.target:
            assert (html / f"{name.name}.html").is_file(), name
            assert (html / f"{name.page}.html").is_file(), name


@pytest.mark.req("PRJ-005")
@pytest.mark.skipif(not shutil.which("doxygen"), reason="needs doxygen")
@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("runtime/executor/program", "Program Program::load Program::load_method"),
        ("runtime/executor/method", "Method Method::set_input Method::execute"),
        ("runtime/executor/method_meta", "MethodMeta MethodMeta::num_inputs TensorInfo"),
        ("runtime/core/data_loader", "DataLoader DataLoader::load"),
        ("runtime/core/memory_allocator", "MemoryAllocator MemoryAllocator::allocate"),
        ("runtime/core/hierarchical_allocator", "HierarchicalAllocator"),
        ("runtime/executor/memory_manager", "MemoryManager MemoryManager::planned_memory"),
        ("runtime/core/evalue", "EValue EValue::toTensor"),
        ("runtime/core/portable_type/tensor", "etensor::Tensor etensor::Tensor::sizes"),
    ],
)
def test_documented_classes_of_cpp_have_pages_with_their_members(
    html: Path, page: str, names: str
) -> None:
    """An anchor of Sphinx's C++ domain is the mangled name: each part after its length."""
    anchors = "\n".join(check.read(html / f"api/cpp/{page}.html").anchors)
    for name in names.split():
        mangled = "".join(f"{len(each)}{each}" for each in name.split("::"))
        assert re.search(rf"^_CPP.*7runtime{mangled}(E|$)", anchors, re.M), name
    assert (html / "api/executorch.runtime.html").is_file()


def test_a_page_leads_to_where_its_text_is_edited(html: Path) -> None:
    for page, path in (
        ("guide/errors", "docs/guide/errors.md"),
        ("index", "README.md"),
        ("api/cpp/runtime/core/evalue", "runtime/core/evalue.h"),
    ):
        assert f"https://host/edit/main/{path}" in check.read(html / f"{page}.html").addresses
    assert "https://host" not in (html / "commands/export.html").read_text()


def test_planted_faults_are_seen(html: Path, tmp_path: Path) -> None:
    """What the pages have: a page that is gone, and an anchor that is."""
    page = html / "guide/errors.html"
    text = page.read_text()
    assert 'href="export_and_lowering.html#dynamic-sizes"' in text
    try:
        planted = text.replace("html#dynamic-sizes", "html#dynamic-size")
        page.write_text(planted.replace("microcontrollers.html#how", "micro.html#how"))
        assert check.problems(html) == [
            "guide/errors.html: export_and_lowering.html#dynamic-size: no such anchor",
            "guide/errors.html: micro.html#how-much-memory: no such file",
        ]
    finally:
        page.write_text(text)


def test_llms_txt_names_pages_that_are_there(html: Path) -> None:
    lines = (html / "llms.txt").read_text().splitlines()
    names = [line.partition("](")[2].partition(")")[0] for line in lines if line.startswith("- [")]
    assert len(names) > 150 and [name for name in names if not (html / name).is_file()] == []


@needs_chromium
def test_the_search_finds_the_right_page_in_its_first_three(html: Path, browser: Chromium) -> None:
    """By the scripts of the page itself, in a browser that has no network: static/search.js says how pages are
    scored."""
    assert len(seen.questions()) >= 30 and seen.misses(browser, html) == {}


@needs_chromium
def test_results_are_shown_for_an_address_with_a_question(html: Path, browser: Chromium) -> None:
    browser.open((html / "search.html").resolve().as_uri() + "?q=quantize+to+int8")
    browser.wait_for("document.querySelectorAll('#search-results li a').length > 2")
    first = browser.value("document.querySelector('#search-results li a').getAttribute('href')")
    assert first.partition("?")[0].partition("#")[0].startswith("guide/")


@needs_chromium
@pytest.mark.parametrize("width", seen.WIDTHS)
@pytest.mark.parametrize("mode", seen.MODES)
def test_pages_can_be_read(html: Path, browser: Chromium, mode: str, width: int) -> None:
    """Contrast by WCAG 2, level AA; nothing is wider than the screen."""
    for name in LOOKED_AT:
        seen.show(browser, html / f"{name}.html", width, mode)
        assert seen.hard_to_read(browser) == [], name
        assert not seen.too_wide(browser), name
    assert browser.exceptions == []


@needs_chromium
@pytest.mark.parametrize("mode", seen.MODES)
def test_versions_beside_each_other_have_a_switch(
    html: Path, browser: Chromium, tmp_path: Path, mode: str
) -> None:
    versions.add(tmp_path, "1.3", html)
    assert versions.add(tmp_path, "main", html) == ["main", "1.3"]
    seen.show(browser, tmp_path / "main/api/cpp.html", seen.WIDTHS[-1], mode)
    browser.wait_for("document.querySelector('.versions select')?.checkVisibility()")
    assert seen.hard_to_read(browser) == []
    seen.choose_version(browser, "1.3", "/1.3/api/cpp.html")
    browser.wait_for("document.querySelector('.versions select')?.value === '1.3'")
