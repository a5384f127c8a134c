# SPDX-License-Identifier: BSD-3-Clause
"""The zoo knows every name, counts what a backend takes, keeps what fails, and its page is made of its results."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from executorch.backends.discovery import backends
from executorch.cli.plugins import NO_BACKEND
from executorch.examples.models import EXAMPLES, MODEL_NAME_TO_MODEL
from executorch.tools import zoo
from executorch.tools.zoo import __main__ as command
from executorch.tools.zoo import page
from executorch.tools.zoo.models import COLUMNS, LEFT_OUT, TRAINED, Column, names

PAGE = Path(zoo.__file__).resolve().parents[2] / "docs" / "results" / "zoo.md"
ROW = {
    "name": "add",
    "column": "xnnpack",
    "bytes": 1234,
    "taken": 3,
    "left": 1,
    "error": 2.5e-7,
    "ms": 0.0126,
}


def test_every_name_and_way_is_there() -> None:
    known = {*EXAMPLES, *MODEL_NAME_TO_MODEL}
    assert known == {*names()} | LEFT_OUT and len(names()) >= 30
    assert {*TRAINED} <= known
    for column in COLUMNS:
        assert column.backend == NO_BACKEND or column.backend in backends()
        assert not column.quantize or column.quantize in backends()[column.backend].quantizations()


def test_words_of_a_cell() -> None:
    assert page.took(ROW) == "3 of 4" and page.took(ROW | {"left": 0}) == "all 3"
    assert page.ran(ROW) == "1 kB, 2e-07, 0.013 ms"
    without = {key: value for key, value in ROW.items() if key != "error"}
    assert page.ran(without) == "1 kB" and page.ran(ROW | {"taken": 0}) == ""
    assert page.ran(ROW | {"taken": 0, "column": NO_BACKEND}) == page.ran(ROW)
    assert page.took({"failed": "no"}) == "refused" and page.took(None) == page.ran(None) == ""
    assert [page.milliseconds(each) for each in (0.5, 5, 50, 500)] == [
        "0.500 ms",
        "5.00 ms",
        "50.0 ms",
        "500 ms",
    ]


def test_the_page_has_what_was_measured_and_what_was_refused() -> None:
    failed = {"name": "add", "column": "vulkan", "failed": "ValueError: `no`"}
    cells = {(row["name"], row["column"]): row for row in (ROW | {"parameters": 0}, failed)}
    text = page.text(cells)
    assert "| add | x + y | 0 |  |\n" in text and "| mul |" not in text
    assert "| add | 3 of 4 |  | refused |" in text
    assert "- add, vulkan: `ValueError: no`\n" in text


@pytest.mark.full
def test_models_are_measured_and_a_wrong_way_costs_itself_alone() -> None:
    """add has one call, and its result is exact."""
    columns = [Column(NO_BACKEND), Column("nothing"), Column("xnnpack"), Column("xnnpack", "int8")]
    wanted = [*(("add", column) for column in columns), ("linear", Column("xnnpack"))]
    none, wrong, ours, few, linear = command.cells(wanted, 300)
    assert (none["taken"], none["left"], none["error"]) == (0, 1, 0.0)
    assert "failed" in wrong
    assert (ours["taken"], ours["left"], ours["error"]) == (1, 0, 0.0)
    assert few["taken"] >= 1 and few["error"] < 0.01 and few["ms"] > 0
    assert (linear["name"], linear["taken"], linear["left"]) == ("linear", 1, 0)
    assert linear["error"] < 1e-6


def test_a_cell_that_takes_too_long_is_said_to() -> None:
    (row,) = command.cells([("add", Column(NO_BACKEND))], 0.01)
    assert row == {"name": "add", "column": NO_BACKEND, "failed": "longer than 0 s"}


@pytest.mark.skipif(not PAGE.exists(), reason="the page is in the tree, not in the package")
def test_the_page_is_of_models_that_have_names() -> None:
    rows = re.findall(r"^\| (\w+) \|", PAGE.read_text(), re.M)
    assert {*rows} - {"name", "network", "program"} <= {*names()} and len({*rows}) > 25
