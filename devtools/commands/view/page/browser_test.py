# SPDX-License-Identifier: BSD-3-Clause
"""The page in a browser: the first picture of 10,000 nodes, keys, search, folding; phone, desktop, dark, light."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from executorch.test.e2e.chromium import Chromium, needs_chromium
from executorch.test.pages.cases import REASON, big_page

pytestmark = [needs_chromium, pytest.mark.full]
COUNT = 10_000
FIRST_PICTURE_MS = 2000
MAX_BYTES = 2_000_000
BACKGROUND = {"light": "rgb(255, 255, 255)", "dark": "rgb(23, 24, 26)"}
IS_THERE = "globalThis.view?.firstPicture > 0"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "big.html"
    path.write_text(big_page(COUNT), encoding="utf-8")
    return path


@pytest.fixture
def browser(page: Path, tmp_path: Path) -> Iterator[Chromium]:
    with Chromium(tmp_path / "profile") as chromium:
        chromium.resize(1280, 800)
        chromium.open(page.as_uri())
        chromium.wait_for(IS_THERE)
        yield chromium
        assert chromium.exceptions == []


def test_the_first_picture_comes_soon(browser: Chromium, page: Path) -> None:
    assert browser.value("view.firstPicture") <= FIRST_PICTURE_MS
    assert page.stat().st_size <= MAX_BYTES
    assert browser.value("view.drawn") < 100  # of 10,000


def test_all_that_is_open_is_drawn_where_it_is_seen(browser: Chromium) -> None:
    browser.value("view.goTo(5000)")
    browser.wait_for("!view.isWaiting")
    assert browser.value("view.drawn") < 100
    assert "n5000" in browser.value("get('details').textContent")


def test_keys(browser: Chromium) -> None:
    selected = "view.selected?.node?.name ?? view.selected?.name"
    browser.key("ArrowDown")
    assert browser.value(selected) == "x"
    browser.key("ArrowDown")
    assert browser.value(selected) == "0"  # the first of the layers, closed
    before = browser.value("view.open.size")
    browser.key("Enter")
    assert browser.value("view.open.size") == before + 1
    browser.key("Enter")
    assert browser.value("view.open.size") == before
    browser.key("Backspace")
    assert browser.value(selected) == "model.layers"
    browser.key("/")
    assert browser.value("document.activeElement.id") == "search"
    browser.write("n4242 float32")
    browser.press("Enter")
    assert browser.value(selected) == "n4242"
    assert browser.value("document.activeElement.id") == "graph"
    assert (
        browser.value("get('details').querySelectorAll('figure i').length") == 24
    )  # 4242 = 3 * 1414
    assert REASON in browser.value("get('details').textContent")  # = 7 * 606
    browser.key("Escape")
    assert browser.value("view.selected") is None


def test_controls(browser: Chromium) -> None:
    for by in ("line", "backend", "module"):
        browser.value(f"(s => {{ s.value = '{by}'; s.onchange({{ target: s }}); }})(get('group'))")
        assert browser.value("view.root.sums.count") == COUNT - 1
    for colour in ("ms", "num_bytes", "backend"):
        browser.value(
            f"(s => {{ s.value = '{colour}'; s.onchange({{ target: s }}); }})(get('colour'))"
        )
        browser.wait_for("!view.isWaiting")
    assert browser.value("get('colour').querySelector('[value=change]').disabled")
    browser.click("#show-report")
    assert browser.value("get('report').checkVisibility() && !get('details').checkVisibility()")
    browser.click("#steps")  # in the middle of the memory of 10,000 calls
    assert abs(browser.value("view.selected.node.call") - COUNT / 2) < 20


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_windows(width: int, mode: str, page: Path, browser: Chromium, tmp_path: Path) -> None:
    features = [{"name": "prefers-color-scheme", "value": mode}]
    browser.call("Emulation.setEmulatedMedia", features=features)
    browser.resize(width, 800)
    browser.open(page.as_uri())
    browser.wait_for(IS_THERE)
    browser.value("view.goTo(4242)")
    browser.wait_for("!view.isWaiting")
    assert browser.value("getComputedStyle(document.body).backgroundColor") == BACKGROUND[mode]
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.value("get('graph').clientHeight") >= 200
    browser.screenshot(tmp_path / f"{width}-{mode}.png")
