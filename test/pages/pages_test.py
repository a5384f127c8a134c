# SPDX-License-Identifier: BSD-3-Clause
"""Each page in Chromium: names for screen readers, headings in order, everything by Tab, contrast, no page wider than
its window, tables that sort and fold. All of one browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from executorch.test.e2e.chromium import Chromium, needs_chromium
from executorch.test.pages import accessible
from executorch.test.pages.cases import COMMANDS, MS, PAGES, Programs, page_of, programs
from executorch.tools.site import seen

pytestmark = needs_chromium
# Scrolled to its end, the first column still begins where the box does, and the last ends in it.
REACHED = """[...document.querySelectorAll(".wide:has(table)")].filter((box) => box.checkVisibility()).map((box) => {
  box.scrollLeft = box.scrollWidth;
  const {left, right} = box.getBoundingClientRect(), cells = [...box.querySelector("tbody tr").children];
  const [first, last] = [cells[0], cells.at(-1)].map((cell) => cell.getBoundingClientRect());
  return Math.abs(first.left - left) <= 1 && last.right <= right + 1
    && (cells.length === 1 || last.left >= first.right - 1);
})"""
SCROLLING = """[...document.querySelectorAll(".wide")].filter((box) => box.scrollWidth > box.clientWidth)
  .map((box) => box.ariaLabel)"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("profile")) as chromium:
        yield chromium


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return programs(tmp_path_factory.mktemp("programs"))


def look(browser: Chromium, path: Path) -> None:
    """All that is asked of a page."""
    browser.exceptions.clear()
    for width in seen.WIDTHS:
        for mode in seen.MODES:
            seen.show(browser, path, width, mode)
            is_viewer = browser.value("!!globalThis.start")
            if is_viewer:
                browser.wait_for("globalThis.view?.firstPicture > 0")
            for part in ("#show-report", "#show-details") if is_viewer else ("",):
                if part:
                    browser.value(f"document.querySelector('{part}').click(), 0")
                assert not seen.too_wide(browser)
                assert seen.hard_to_read(browser) == []
                assert all(browser.value(REACHED))
                assert accessible.nameless(browser) == []
                assert not accessible.out_of_order(accessible.headings(browser))
            paper = browser.value("getComputedStyle(document.body).backgroundColor")
            assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(23, 24, 26)"}[mode]
    if not is_viewer:
        assert browser.value(SCROLLING) == []
    assert accessible.lost(browser) == []
    assert browser.exceptions == []


@pytest.mark.parametrize("name", PAGES)
def test_page(name: str, browser: Chromium, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(PAGES[name](), encoding="utf-8")
    look(browser, path)


@pytest.mark.full
@pytest.mark.parametrize("command", COMMANDS)
def test_page_of_a_command(command: str, made: Programs, browser: Chromium, tmp_path: Path) -> None:
    page_of(command, made, tmp_path / "page.html")
    look(browser, tmp_path / "page.html")


@pytest.fixture
def report(browser: Chromium, tmp_path: Path) -> Chromium:
    path = tmp_path / "report.html"
    path.write_text(PAGES["report, full"](), encoding="utf-8")
    seen.show(browser, path, 1280, "light")
    return browser


OPERATORS = "document.querySelector('table[aria-label=Operators]')"
SHOWN = f"[...{OPERATORS}.tBodies[0].rows].filter((row) => row.checkVisibility()).length"


def column(browser: Chromium, index: int) -> list[str]:
    return browser.value(
        f"[...{OPERATORS}.tBodies[0].rows].map((row) => row.cells[{index}].textContent)"
    )


def test_a_heading_sorts_by_mouse_and_by_keyboard(report: Chromium) -> None:
    """Times with their units: 1.50 s, 20.0 ms, 9.00 ms, ... 5.71 µs as written; the second time upwards."""
    as_written = column(report, 2)
    assert as_written[:4] == ["1.50 s", "20.0 ms", "9.00 ms", "1.50 ms"]
    assert as_written[-1] == "5.71 µs"  # 0.2 ms / 35
    time = f"{OPERATORS}.tHead.rows[0].cells[2]"
    report.value(f"{time}.querySelector('button').focus(), 0")
    for state, expected in (
        ("descending", as_written),
        ("ascending", as_written[::-1]),
        ("none", as_written),
    ):
        report.press("Enter", "\r")
        assert report.value(f"{time}.getAttribute('aria-sort')") == state
        assert column(report, 2) == expected
    report.value(f"{OPERATORS}.tHead.rows[0].cells[0].querySelector('button').click(), 0")
    assert column(report, 0)[:3] == ["aten::op0.out", "aten::op1.out", "aten::op2.out"]
    report.value(f"{OPERATORS}.tHead.rows[0].cells[3].querySelector('button').click(), 0")
    sizes = column(report, 3)
    assert sizes[:3] == ["1.00 GB", "100 MB", "10.0 MB"]
    assert sizes[8:11] == ["10 bytes", "1 byte", "0 bytes"]  # as texts "1 byte" would be the last
    states = f"[...{OPERATORS}.tHead.rows[0].cells].map((head) => head.ariaSort)"
    assert report.value(states) == ["none", "none", "none", "descending"]


def test_a_long_table_is_folded(report: Chromium) -> None:
    button = f"{OPERATORS}.closest('details').querySelector('.more')"
    assert report.value(SHOWN) == 10
    assert report.value(f"{button}.textContent") == f"Show all {len(MS)} rows"
    assert report.value(f"{button}.ariaExpanded") == "false"
    report.value(f"{button}.click(), 0")
    assert report.value(SHOWN) == len(MS) == 40
    assert report.value(f"{button}.ariaExpanded") == "true"
    assert len(report.value("[...document.querySelectorAll('.more')]")) == 1


def test_all_is_there_without_scripts(browser: Chromium, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(PAGES["report, full"](), encoding="utf-8")
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        seen.show(browser, path, 390, "light")
        assert browser.value("document.querySelectorAll('button').length") == 0
        assert browser.value(SHOWN) == len(MS)
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


BAD = """<!doctype html><html lang=en><title>x</title><h1>a</h1><h3>b</h3><button></button><svg role=img></svg>
<select></select><button style="outline: none">no mark</button><button onfocus="this.blur()">not reached</button>"""


def test_what_is_wrong_is_found(browser: Chromium, tmp_path: Path) -> None:
    """A level left out; a button, a picture and a list without names; focus that is not shown, and none at all."""
    path = tmp_path / "bad.html"
    path.write_text(BAD, encoding="utf-8")
    seen.show(browser, path, 390, "light")
    assert sorted(accessible.nameless(browser)) == ["button", "combobox", "image"]
    assert accessible.headings(browser) == [1, 3]
    assert accessible.out_of_order([1, 3]) and accessible.out_of_order([2])
    assert not accessible.out_of_order([1, 2, 3, 2])
    kinds = [each.partition(": ")[0] for each in accessible.lost(browser)]
    assert kinds == ["no mark", "not reached"]
