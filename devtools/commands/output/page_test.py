# SPDX-License-Identifier: BSD-3-Clause
"""Pages of reports, and the viewer's: their structure, numbers, pictures, and what their script does, without a
browser; test/pages shows them in one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from typing import Any

import pytest

from executorch.devtools.commands.output.page import SCRIPT, STYLE, page, table_html
from executorch.devtools.commands.output.report import Figure, Report, Table
from executorch.devtools.commands.output.svg import Bar, Box, histogram, lanes, layout, steps
from executorch.devtools.commands.output.words import number_of, sized, timed
from executorch.test.pages.cases import PAGES

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="needs Node (Debian: nodejs)")


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
    text = PAGES[name]()
    structure = Structure(text)
    assert [each["lang"] for each in structure.all("html")] == ["en"]
    assert structure.text["title"].strip()
    assert len(structure.all("h1")) == len(structure.all("main")) == 1
    (viewport,) = (each for each in structure.all("meta") if each.get("name") == "viewport")
    assert viewport["content"] == "width=device-width, initial-scale=1"
    assert ":root { color-scheme: light dark;" in structure.text["style"]
    assert all(each.get("aria-label") for each in structure.all("table"))
    assert all(each.get("aria-label") for each in structure.all("svg"))
    assert all(each.get("scope") in ("col", "row") for each in structure.all("th"))
    assert not re.search(r"https?://|src=|@import|url\(", text)


def test_tables_have_names_heads_and_boxes_that_keys_scroll() -> None:
    structure = Structure(PAGES["report, full"]())
    scopes = [each["scope"] for each in structure.all("th")]
    # Ten columns, four and three; a row's first cell is its head. The empty table is left out.
    assert (scopes.count("col"), scopes.count("row")) == (10 + 4 + 3, 3 + 40 + 1)
    assert len(structure.all("td")) == 3 * 9 + 40 * 3 + 1 * 2
    boxes = [each for each in structure.all("div") if each.get("role") == "region"]
    assert [each["aria-label"] for each in boxes] == ["Findings <1>", "Operators", "One row"]
    assert {each["tabindex"] for each in boxes} == {"0"}


def test_a_page_begins_with_its_verdict_and_figures() -> None:
    report = Report(
        "m.pte", ["1 thing stops it.", "More."], status=1, figures=[Figure("size", "2.00 kB")]
    )
    made = page(report, "executorch doctor")
    assert "<title>m.pte · executorch doctor</title>" in made
    order = [
        made.index(each)
        for each in (
            "<h1>m.pte</h1>",
            '<p class="verdict act">1 thing stops it.</p>',
            "<dt>size</dt><dd>2.00 kB</dd>",
            "<p>More.</p>",
        )
    ]
    assert order == sorted(order)
    assert '<p class="verdict">1' in page(Report("m.pte", ["1"]))


def test_cells_have_units_and_headings_have_none() -> None:
    rows = [
        {
            "name": "a",
            "min ms": 1500.0,
            "ms": 0.25,
            "payload bytes": 1,
            "bytes": 2_000_000,
            "share": "5.0%",
            "void": "",
        },
        {
            "name": "b",
            "min ms": None,
            "ms": 20.0,
            "payload bytes": 0,
            "bytes": 999,
            "share": "",
            "void": None,
        },
    ]
    made = table_html(Table("t", "T", rows))
    heads = re.findall(r'<th scope="col" class="(\w*)">(\w*)</th>', made)
    assert heads == [
        ("", "name"),
        ("n", "min"),
        ("n", "time"),
        ("n", "payload"),
        ("n", "size"),
        ("n", "share"),
    ]
    texts = re.findall(r"<td[^>]*>([^<]*)</td>", made)
    assert texts == [
        "1.50 s",
        "250 µs",
        "1 byte",
        "2.00 MB",
        "5.0%",
        "",
        "20.0 ms",
        "0 bytes",
        "999 bytes",
        "",
    ]
    assert 'data-v="2000000" title="2,000,000 bytes"' in made
    change = table_html(Table("t", "T", [{"part": "x", "change": -1500}], unit="bytes"))
    assert ">-1.50 kB</td>" in change


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (number_of(1, "call"), "1 call"),
        (number_of(0, "call"), "0 calls"),
        (number_of(1234, "call"), "1,234 calls"),
        (number_of(2, "index", "indices"), "2 indices"),
        (timed(0.0), "0 ms"),
        (timed(999.6), "1.00 s"),
        (timed(999.4), "999 ms"),
        (timed(0.00001), "10.0 ns"),
        (timed(12.345), "12.3 ms"),
        (sized(1), "1 byte"),
        (sized(999), "999 bytes"),
        (sized(999_600), "1.00 MB"),
        (sized(-1500), "-1.50 kB"),
    ],
)
def test_numbers_are_read_with_nouns_and_units(found: str, expected: str) -> None:
    assert found == expected


def test_pictures_have_names_and_are_as_wide_as_the_page() -> None:
    """A name of 10 letters takes 65 pixels: a fifth of 340, a tenth of 640."""
    pictures = [
        histogram("a & b", [1.0, 2.0, 9.0], "ms", (1.0, 3.0)),
        steps("a & b", [1, 2], "first", "last", 1),
        lanes(
            "a & b",
            [
                Bar("calls", 0.0, 2.0, "wide names", "w"),
                Bar("calls", 2.0, 3.1, "ten letter", "w"),
                Bar("calls", 3.1, 10.0, "n" * 99, "w"),
            ],
            10.0,
            "10 s",
        ),
        layout("a & b", [Box(0, 0, 0, 9, "x", "y", True)], 2, 9, "first", "last"),
    ]
    for each in pictures:
        assert re.search(r'<svg width="100%" height="\d+" role="img" aria-label="a &amp; b', each)
    assert "a &amp; b: 3 values; 1 ms, at most 1 of 3 in a bar, 3 ms, 1 beyond" in pictures[0]
    assert "1 tensor; first, last" in pictures[3] and 'class="part marked"' in pictures[3]
    names = re.findall(r"<text([^>]*?) x=[^>]*middle\">([^<]*)<", pictures[2])
    assert names == [("", "wide names"), (' class="if-wide"', "ten letter")]


def luminance(colour: str) -> float:
    """By WCAG 2, of #rgb or #rrggbb."""
    digits = colour.lstrip("#")
    digits = "".join(2 * each for each in digits) if len(digits) == 3 else digits
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("below", ["part", "marked"])
def test_names_in_pictures_are_legible(mode: int, below: str) -> None:
    """The browser is asked for text outside of pictures only."""
    values = [re.findall(rf"--{name}: (#\w+);", STYLE)[mode] for name in ("ink", below)]
    dark, light = sorted(map(luminance, values))
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def in_node(script: str) -> Any:
    assert NODE is not None
    program = f"{SCRIPT}\nconsole.log(JSON.stringify({script}))"
    ran = subprocess.run([NODE, "-"], input=program, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@needs_node
def test_texts_with_units_are_numbers() -> None:
    texts = [
        "1.5 ms",
        "20 ms",
        "1 s",
        "3 µs",
        "1,234",
        "12%",
        "-2.5e-3",
        "1 kB",
        "1 MB",
        "1 MiB",
        "2 bytes",
        "x 1",
        "1 x",
        "",
    ]
    found = in_node(f"{json.dumps(texts)}.map(numberIn)")
    assert found[:6] == pytest.approx([1.5e-3, 20e-3, 1, 3e-6, 1234, 0.12])
    assert found[6:] == [-0.0025, 1000, 1e6, 1048576, 2, None, None, None]


@needs_node
def test_columns_are_sorted_as_what_they_are() -> None:
    def order(texts: list[str], is_down: bool = False, values: list[str] | None = None) -> Any:
        cells = [
            {"text": text, **({"value": values[i]} if values else {})}
            for i, text in enumerate(texts)
        ]
        places = in_node(f"sortedPlaces({json.dumps(cells)}, {json.dumps(is_down)})")
        return [texts[i] for i in places]

    times = ["20 ms", "1 s", "", "1.5 ms", "nan"]
    assert order(times) == ["1.5 ms", "20 ms", "1 s", "", "nan"]
    assert order(times, True) == ["1 s", "20 ms", "1.5 ms", "", "nan"]
    assert order(["b10", "b9", "a", "5"]) == ["5", "a", "b9", "b10"]
    # Rounded to the same text, they differ by what they were.
    assert order(["1.00 s", "1.00 s!"], values=["1001.2", "1000.9"]) == ["1.00 s!", "1.00 s"]
