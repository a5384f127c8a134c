# SPDX-License-Identifier: BSD-3-Clause
"""What a command found: sentences, tables and pictures, to be shown as text, JSON or a page (page.py)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tabulate import tabulate

from executorch.devtools.commands.output.words import OF_UNIT, number_of

Row = Mapping[str, Any]
_OUTER_FOLDERS = re.compile(r"^\S*/(?:site|dist)-packages/")


class Folded(tuple[Row, ...]):
    """Rows in a cell: tables show the first three of their first values, JSON and pages have all."""

    __slots__ = ()
    SHOWN = 3

    def __str__(self) -> str:
        names = list(dict.fromkeys(cell(next(iter(row.values()))) for row in self))
        left = len(names[self.SHOWN :])
        return ", ".join(names[: self.SHOWN]) + (f", and {left:,} more" if left else "")


@dataclass(frozen=True)
class Table:
    """Rows with the same keys, which are the columns' titles. `bars`: the column that pages draw as bars; `shown`:
    how many rows the text has, while JSON and pages have all; `unit`: of columns of numbers whose titles end with
    none."""

    name: str
    title: str
    rows: Sequence[Row]
    bars: str | None = None
    shown: int = 20
    unit: str = ""


@dataclass(frozen=True)
class Picture:
    """For pages. `svg`: of svg.py, without scripts and without anything from elsewhere."""

    title: str
    svg: str


@dataclass(frozen=True)
class Figure:
    """One of the few numbers that a page begins with, as people read it."""

    name: str
    value: str


@dataclass(frozen=True)
class Report:
    """`summary`: the verdict first. `status`: 1 when something was found that the user should act upon. `page`: where
    it has one of its own."""

    title: str
    summary: Sequence[str]
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    status: int = 0
    page: str = ""
    figures: Sequence[Figure] = ()

    def as_json(self) -> str:
        """Numbers that JSON has no word for are texts, as in tables: "nan", "inf"."""
        content = {
            "title": self.title,
            "summary": list(self.summary),
            "status": self.status,
            **self.facts,
            **{table.name: list(table.rows) for table in self.tables},
        }
        return json.dumps(_finite(content), indent=2, allow_nan=False)

    def as_text(self, most_rows: int | None = None) -> str:
        """`most_rows`: of each table, where that is less than it shows."""
        parts = [self.title, *self.summary]
        for table in self.tables:
            if table.rows:
                parts.append(f"\n{table.title}\n{_text(table, most_rows)}")
        return "\n".join(parts)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def cell(value: Any) -> str:
    """A value as tables show it: numbers in groups of three, lists by commas, None as nothing."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Folded):
        return str(value)
    return ", ".join(map(cell, value)) if isinstance(value, (list, tuple)) else str(value)


def cell_of(row: Row, column: str) -> str:
    """Lines of Python by the path that their reader knows: within a package, or from the current folder on."""
    text = cell(row[column])
    return _OUTER_FOLDERS.sub("", text).removeprefix(f"{Path.cwd()}/") if column == "line" else text


def unit_of(table: Table, column: str) -> str:
    """ms, bytes, or nothing: by the end of the column's title, or of the table."""
    if not is_numeric(table, column):
        return ""
    last = column.rpartition(" ")[2]
    return last if last in OF_UNIT else table.unit


def is_numeric(table: Table, column: str) -> bool:
    """By the first value that is there."""
    first = next((row[column] for row in table.rows if row[column] is not None), None)
    return isinstance(first, (int, float)) and not isinstance(first, bool)


def _text(table: Table, most_rows: int | None) -> str:
    shown = table.shown if most_rows is None else min(most_rows, table.shown)
    rows = table.rows[:shown]
    if not rows:
        return f"{number_of(len(table.rows), 'row')}: --json or --html has them"
    columns = list(rows[0])
    cells = [[cell_of(row, column) for column in columns] for row in rows]
    numeric = [is_numeric(table, column) for column in columns]
    text = tabulate(
        cells,
        headers=columns,
        tablefmt="presto",
        disable_numparse=True,
        colalign=["right" if is_number else "left" for is_number in numeric],
    )
    left = len(table.rows) - len(rows)
    return text + (
        f"\n... and {number_of(left, 'more row')}: --json or --html has them" if left else ""
    )
