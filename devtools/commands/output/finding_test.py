# SPDX-License-Identifier: BSD-3-Clause
"""One row a cause, the heaviest first, with what it costs and its layers folded."""

from __future__ import annotations

import json

import pytest

from executorch.devtools.commands.output.finding import (
    MEMORY,
    SLOW,
    STOPS,
    Finding,
    Layer,
    rows_of_causes,
)
from executorch.devtools.commands.output.page import page
from executorch.devtools.commands.output.report import Report, Table


def slow(number: int) -> Finding:
    """Layer `number` took as many milliseconds."""
    layer = Layer(f"layers.{number}", "sort", f"net.py:{number}: sort(x)", ("forward", number))
    about = (1, 8, (layer.line,), "slower than this machine", (layer,))
    return Finding(SLOW, f"sort {number}", f"{number} ms", "ask for a faster kernel", *about)


def report() -> Report:
    one = Finding(SLOW, "copies", "it computes nothing", "drop it", 1, 4, ("net.py:1: y",))
    found = [
        Finding(MEMORY, "peak", "", "smaller inputs", 1, 1000),
        one,
        *(slow(number).timed(lambda place: place[1] / 1e3) for number in range(1, 20)),
        Finding(STOPS, "aten::erfinv.out", "no kernel", "register one", 1),
    ]
    return Report("net", [], [Table("findings", "Findings", rows_of_causes(found, 0.38), "ms")])


def test_a_cause_is_a_row() -> None:
    rows = json.loads(report().as_json())["findings"]
    # what stops; 1 + ... + 19 = 190 ms of 380; then by bytes
    assert [row["finding"] for row in rows] == [
        "aten::erfinv.out",
        "19 operators slower than this machine",
        "peak",
        "copies",
    ]
    cause = rows[1]
    assert cause["ms"] == pytest.approx(190) and cause["share"] == "50.0%"
    assert (cause["calls"], cause["bytes"]) == (19, 19 * 8)
    assert cause["why"] == "the first: sort 19: 19 ms"
    assert [layer["layer"] for layer in cause["layers"]][:2] == ["layers.19", "layers.18"]
    assert len(cause["layers"]) == 19 and cause["layers"][0]["ms"] == pytest.approx(19)
    assert rows[3]["ms"] is None and rows[3]["line"] == "net.py:1: y"


def test_layers_are_folded_where_people_read() -> None:
    text = report().as_text()
    assert "layers.19, layers.18, layers.17, and 16 more" in text and "layers.16" not in text
    assert text.count("ask for a faster kernel") == 1
    shown = page(report())
    assert "<details><summary>layers.19, layers.18, layers.17, and 16 more</summary>" in shown
    assert "layers.1 · sort · net.py:1: sort(x) · 1" in shown


def test_without_an_execution_there_are_no_times() -> None:
    (row,) = rows_of_causes([slow(1), slow(2)])
    assert "ms" not in row and "share" not in row and row["calls"] == 2
