# SPDX-License-Identifier: BSD-3-Clause
"""A report as one HTML page: nothing loaded from elsewhere, light and dark; its script sorts and folds tables, and all
is there without it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from executorch.devtools.commands.output.report import (
    Figure,
    Folded,
    Picture,
    Report,
    Row,
    Table,
    cell,
    cell_of,
    is_numeric,
    unit_of,
)
from executorch.devtools.commands.output.words import OF_UNIT

_HERE = Path(__file__).parent
# Of all pages; the viewer adds its own to it.
STYLE = (_HERE / "page.css").read_text(encoding="utf-8")
SCRIPT = (_HERE / "page.js").read_text(encoding="utf-8")
_SHORT = 12  # letters that no column breaks
_BREAKS = re.compile(r"(?<=\w)(?:::|[/_.])(?=\w)")
_SHARE = re.compile(r"[+-]?[\d.]+%")
_OF_UNITS = {"ms": "time", "bytes": "size"}  # columns that are called by their unit alone


def page(report: Report, command: str = "") -> str:
    """The whole page: what was found first, then pictures, then the rest. `command`: what made it."""
    parts = [f"<h1>{_broken(report.title)}</h1>", *summary_html(report, command)]
    first, *others = [table_html(table) for table in report.tables if table.rows] or [""]
    parts += [first, *map(_picture_html, report.pictures), *others]
    body = "\n".join(parts)
    title = " · ".join(filter(None, (report.title, command)))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<style>\n{STYLE}</style></head>\n"
        f'<body><main class="page">\n{body}\n</main>\n<script>\n{SCRIPT}</script></body></html>\n'
    )


def summary_html(report: Report, command: str = "") -> list[str]:
    """The command, the verdict, a few numbers, and what else is to be said."""
    verdict, *others = report.summary or [""]
    kind = "verdict act" if report.status else "verdict"
    first = [f'<p class="{kind}">{escape(verdict)}</p>'] if verdict else []
    made_by = [f'<p class="made-by">{escape(command)}</p>'] if command else []
    return [
        *made_by,
        *first,
        figures_html(report.figures),
        *(f"<p>{escape(x)}</p>" for x in others),
    ]


def figures_html(figures: Sequence[Figure]) -> str:
    cells = "".join(
        f"<div><dt>{escape(each.name)}</dt><dd>{escape(each.value)}</dd></div>" for each in figures
    )
    return f'<dl class="figures">{cells}</dl>' if cells else ""


def _picture_html(picture: Picture) -> str:
    return _part(picture.title, picture.svg)


def _part(title: str, content: str) -> str:
    return (
        f'<details class="part" open><summary><h2>{escape(title)}</h2></summary>\n'
        f"{content}</details>"
    )


def table_html(table: Table) -> str:
    columns = _columns(table)
    largest = max((row[table.bars] or 0 for row in table.rows), default=0) if table.bars else 0
    kinds = [_kind(table, column) for column in columns]
    units = [unit_of(table, column) for column in columns]
    head = "".join(
        f'<th scope="col" class="{kind}">{escape(_heading(column))}</th>'
        for column, kind in zip(columns, kinds, strict=True)
    )
    rows = []
    for row in table.rows:
        cells = "".join(
            _cell(
                row,
                column,
                kind,
                unit,
                (row[column] or 0) / largest if column == table.bars and largest else None,
                is_first=column == columns[0],
            )
            for column, kind, unit in zip(columns, kinds, units, strict=True)
        )
        rows.append(f"<tr>{cells}</tr>")
    body = "\n".join(rows)
    title = escape(table.title)
    return _part(
        table.title,
        f'<div class="wide" tabindex="0" role="region" aria-label="{title}">'
        f'<table aria-label="{title}">\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>",
    )


def _columns(table: Table) -> list[str]:
    """The first, and those that say something in some row."""
    first, *others = table.rows[0]
    return [first, *(x for x in others if any(cell(row[x]) for row in table.rows))]


def _broken(text: str) -> str:
    """With places where names and paths may go on in another line."""
    return _BREAKS.sub(r"\g<0><wbr>", escape(text)) if len(text) > _SHORT else escape(text)


def _heading(column: str) -> str:
    """Without the unit, which each cell has."""
    name, _, unit = column.rpartition(" ")
    return _OF_UNITS.get(column) or (name if unit in _OF_UNITS else column)


def _kind(table: Table, column: str) -> str:
    if column == "line":
        return "code"
    texts = list(filter(None, (cell(row[column]) for row in table.rows)))
    is_share = texts and all(map(_SHARE.fullmatch, texts))
    return "n" if is_share or is_numeric(table, column) else ""


def _content(row: Row, column: str, unit: str) -> str:
    """Rows that are folded open at a click."""
    value = row[column]
    if unit and isinstance(value, (int, float)):
        return OF_UNIT[unit](value)
    text = cell_of(row, column)
    if not isinstance(value, Folded) or len(value) < 2:
        return escape(text) if column == "line" else _broken(text)
    inner = "<br>".join(escape(" · ".join(filter(None, _cells(each)))) for each in value)
    return f"<details><summary>{escape(text)}</summary>{inner}</details>"


def _cells(row: Row) -> list[str]:
    return [
        OF_UNIT[column](row[column])
        if column in OF_UNIT and row[column] is not None
        else cell_of(row, column)
        for column in row
    ]


def _cell(row: Row, column: str, kind: str, unit: str, share: float | None, is_first: bool) -> str:
    """The first names its row. Numbers that are rounded keep what they are for the sort, and exact bytes as a hint."""
    content, value = _content(row, column, unit), row[column]
    text = cell_of(row, column)
    by_length = "long" if len(text) > 40 else "short" if len(text) < 20 else ""
    kinds, more = kind or by_length, ""
    if isinstance(value, float) or (unit and isinstance(value, int)):
        more = f' data-v="{value!r}"'
    if unit == "bytes" and value is not None:
        more += f' title="{cell(value)} bytes"'
    if share is not None:
        kinds, more = "n bar", more + f' style="background-size: {100 * share:.1f}% 100%"'
    tag, scope = ("th", ' scope="row"') if is_first else ("td", "")
    return f'<{tag}{scope} class="{kinds}"{more}>{content}</{tag}>'
