# SPDX-License-Identifier: BSD-3-Clause
"""Pages of reports, and the viewer's: their structure; in a browser, on a phone and a desktop, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from executorch.devtools.commands.output.page import page
from executorch.devtools.commands.output.report import Folded, Picture, Report, Row, Table
from executorch.devtools.commands.output.svg import histogram
from executorch.devtools.commands.view.graph import INPUT, Graph, GraphNode
from executorch.devtools.commands.view.page import graph_page
from executorch.test.e2e.chromium import Chromium, needs_chromium
from executorch.tools.site import seen

WHY = "no kernel of this library takes float64, and the delegate has no such operator"
LINE = "models/vision/detection/a_rather_long_name_of_a_file.py:123: return self.head(self.body(x))"
# As doctor's findings: ten columns.
FINDINGS: list[Row] = [
    {
        "kind": kind,
        "finding": f"{calls:,} calls of aten::convolution.out are outside of delegates",
        "ms": 12.5 * calls,
        "share": "12.5%",
        "why": WHY,
        "next step": "executorch export --backend xnnpack, or convert it to float32 before",
        "calls": calls,
        "bytes": 123_456_789 * calls,
        "layers": Folded({"layer": f"body.{i}", "ms": 1.5} for i in range(calls)),
        "line": LINE,
    }
    for calls, kind in enumerate(("stops", "slow", "memory"), 1)
]
TABLES = [
    Table("findings", "Findings <1>", FINDINGS, "ms"),
    Table("modules", "Modules", [{"module": "m" * 90, "operators": 7, "ms": 1.5}], "operators"),
    Table("empty", "Nothing", []),
]
SUMMARY = ["Nothing stops it.", "/a/path/" + "without_a_space" * 9]
REPORT = Report(
    "a folder & a model.pte",
    SUMMARY,
    TABLES,
    [Picture("Times", histogram([1.0, 2.0, 2.5], "ms", (1.0, 3.0)))],
)
NODES = [
    GraphNode("x", INPUT, outputs=("float32[1]",)),
    GraphNode("y", "aten::cos.out", "body.0", LINE, why=WHY, inputs=(0,), call=0),
]
PAGES = {
    "report": page(REPORT),
    "empty": page(Report("empty", [])),
    "viewer": graph_page("a.pte", SUMMARY, [Graph("a.pte", "forward", NODES, [7])], TABLES[:2]),
}
# Scrolled to its end, the first column still begins where the box does, and the last ends in it.
REACHED = """[...document.querySelectorAll(".wide:has(table)")].map((box) => {
  box.scrollLeft = box.scrollWidth;
  const {left, right} = box.getBoundingClientRect(), cells = [...box.querySelectorAll("tbody tr")[0].children];
  const [first, last] = [cells[0], cells.at(-1)].map((cell) => cell.getBoundingClientRect());
  return Math.abs(first.left - left) <= 1 && last.right <= right + 1 && last.left >= first.right - 1;
})"""


class Structure(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text: dict[str, str] = {}
        self._last = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._last = tag

    def handle_data(self, data: str) -> None:
        self.text[self._last] = self.text.get(self._last, "") + data

    def all(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.found if tag in tags]


@pytest.mark.parametrize("name", PAGES)
def test_structure(name: str) -> None:
    structure = Structure(PAGES[name])
    assert [each["lang"] for each in structure.all("html")] == ["en"]
    assert structure.text["title"].strip()
    assert len(structure.all("h1")) == len(structure.all("main")) == 1
    (viewport,) = (each for each in structure.all("meta") if each.get("name") == "viewport")
    assert viewport["content"] == "width=device-width, initial-scale=1"
    assert ":root { color-scheme: light dark;" in structure.text["style"]
    assert len(structure.all("table")) == len(structure.all("caption"))
    assert all(each.get("scope") in ("col", "row") for each in structure.all("th"))


def test_tables_have_names_heads_and_boxes_that_keys_scroll() -> None:
    structure = Structure(PAGES["report"])
    scopes = [each["scope"] for each in structure.all("th")]
    # Ten columns and three; a row's first cell is its head: three rows and one. The empty table is left out.
    assert (scopes.count("col"), scopes.count("row")) == (10 + 3, 3 + 1)
    assert len(structure.all("td")) == 3 * 9 + 1 * 2
    boxes = [each for each in structure.all("div") if each.get("role") == "region"]
    assert [each["aria-label"] for each in boxes] == ["Findings <1>", "Modules"]
    assert {each["tabindex"] for each in boxes} == {"0"}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("profile")) as chromium:
        yield chromium
        assert chromium.exceptions == []


@needs_chromium
@pytest.mark.full
@pytest.mark.parametrize("mode", seen.MODES)
@pytest.mark.parametrize("width", seen.WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_windows(name: str, width: int, mode: str, browser: Chromium, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.html"
    path.write_text(PAGES[name], encoding="utf-8")
    seen.show(browser, path, width, mode)
    if name == "viewer":
        browser.wait_for("globalThis.view?.firstPicture > 0")
        browser.click("#show-report")
    browser.screenshot(tmp_path / f"{width}-{mode}.png")
    assert not seen.too_wide(browser)
    assert seen.hard_to_read(browser) == []
    paper = browser.value("getComputedStyle(document.body).backgroundColor")
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(23, 24, 26)"}[mode]
    assert browser.value(REACHED) == [True] * (0 if name == "empty" else 2)
