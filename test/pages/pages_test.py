# SPDX-License-Identifier: BSD-3-Clause
"""Each page in Chromium: names for screen readers, headings in order, everything by Tab, contrast, no page wider than
its window, tables that sort and fold. All of one browser."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from executorch import extension
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


PAPERS = {"light": "rgb(255, 255, 255)", "dark": "rgb(23, 24, 26)"}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("profile")) as chromium:
        yield chromium


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return programs(tmp_path_factory.mktemp("programs"))


def look(browser: Chromium, path: Path, papers: Mapping[str, str] = PAPERS) -> None:
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
            if papers:
                paper = browser.value("getComputedStyle(document.body).backgroundColor")
                assert paper == papers[mode]
    if not is_viewer:
        assert browser.value(SCROLLING) == []
    assert accessible.lost(browser) == []
    assert browser.exceptions == []


@pytest.mark.parametrize("name", PAGES)
def test_page(name: str, browser: Chromium, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(PAGES[name](), encoding="utf-8")
    look(browser, path)


@pytest.mark.parametrize("name", ["index", "chat"])
def test_page_of_wasm(name: str, browser: Chromium) -> None:
    """As it is before a program is chosen; extension/wasm/browser_test.py runs one."""
    path = Path(extension.__path__[0], "wasm", "page", f"{name}.html")
    if not path.exists():
        pytest.skip("needs the tree")
    look(browser, path, {})


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
<select></select><input placeholder=write>
<button style="outline: none">no mark</button><button onfocus="this.blur()">not reached</button>"""


def test_what_is_wrong_is_found(browser: Chromium, tmp_path: Path) -> None:
    """A level left out; a button, a picture and a list without names; focus that is not shown, and none at all."""
    path = tmp_path / "bad.html"
    path.write_text(BAD, encoding="utf-8")
    seen.show(browser, path, 390, "light")
    assert sorted(accessible.nameless(browser)) == ["button", "combobox", "image", "write"]
    assert accessible.headings(browser) == [1, 3]
    assert accessible.out_of_order([1, 3]) and accessible.out_of_order([2])
    assert not accessible.out_of_order([1, 2, 3, 2])
    kinds = [each.partition(": ")[0] for each in accessible.lost(browser)]
    assert kinds == ["no mark", "not reached"]


# Contrasts of names with what boxes of the viewer's picture are filled with.
CONTRASTS = """(() => {
  const probe = document.body.appendChild(document.createElement("i"));
  const luminance = (colour) => {
    probe.style.color = colour;
    const parts = getComputedStyle(probe).color.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255);
    const [r, g, b] = parts.map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const { palette } = view, ink = luminance(palette.ink);
  const fills = [...HUES, 32].map((hue) => palette.fill(hue));
  fills.push(palette.fill(350, 70), palette.fill(32, 70), palette.box);
  for (let i = 0; i <= 20; i++) fills.push(heat(i / 20, palette.isDark));
  return fills.map((fill) => [fill, luminance(fill)])
    .map(([fill, below]) => [fill, (Math.max(ink, below) + 0.05) / (Math.min(ink, below) + 0.05)]);
})()"""


@pytest.fixture
def viewer(browser: Chromium, tmp_path: Path) -> Path:
    path = tmp_path / "viewer.html"
    path.write_text(PAGES["viewer, full"](), encoding="utf-8")
    return path


@pytest.mark.parametrize("mode", seen.MODES)
def test_names_in_the_viewers_picture_are_legible(
    mode: str, viewer: Path, browser: Chromium
) -> None:
    seen.show(browser, viewer, 1280, mode)
    browser.wait_for("globalThis.view?.firstPicture > 0")
    found = browser.value(CONTRASTS)
    assert len(found) > 20
    assert [each for each in found if each[1] < seen.LEAST] == []


def test_the_viewers_search_is_read_aloud(viewer: Path, browser: Chromium) -> None:
    """Which of the found is chosen by arrows."""
    seen.show(browser, viewer, 1280, "light")
    browser.wait_for("globalThis.view?.firstPicture > 0")
    browser.key("/")
    browser.write("cos")
    options = [
        each["name"]["value"]
        for each in accessible.tree(browser)
        if each["role"]["value"] == "option"
    ]
    assert any(each.startswith("y0 ") for each in options)
    search = "get('search')"
    assert browser.value(f"{search}.getAttribute('aria-activedescendant')") == "found-0"
    browser.key("ArrowDown")
    assert browser.value(f"{search}.getAttribute('aria-activedescendant')") == "found-1"
    assert browser.value(f"{search}.ariaExpanded") == "true"
    browser.key("Escape")
    assert browser.value(f"{search}.ariaExpanded") == "false"
