# SPDX-License-Identifier: BSD-3-Clause
"""A report as one HTML page: no scripts, nothing loaded from elsewhere, light and dark."""

from __future__ import annotations

from html import escape
from pathlib import Path

from executorch.devtools.commands.output.report import (
    Folded,
    Report,
    Row,
    Table,
    cell_of,
    is_numeric,
)

# Of all pages; the viewer adds its own to it.
STYLE = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")


def page(report: Report) -> str:
    """The whole page: what was found first, then pictures, then the rest."""
    parts = [f"<h1>{escape(report.title)}</h1>"]
    parts += [f"<p>{escape(sentence)}</p>" for sentence in report.summary]
    first, *others = [table_html(table) for table in report.tables if table.rows] or [""]
    pictures = [
        f"<h2>{escape(each.title)}</h2>\n<div class=wide>{each.svg}</div>"
        for each in report.pictures
    ]
    parts += [first, *pictures, *others]
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(report.title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>\n{STYLE}</style></head>\n"
        f'<body><main class="page">\n{body}\n</main></body></html>\n'
    )


def table_html(table: Table) -> str:
    columns = list(table.rows[0])
    largest = max((row[table.bars] or 0 for row in table.rows), default=0) if table.bars else 0
    kinds = [_kind(table, column) for column in columns]
    head = "".join(
        f'<th scope="col" class="{kind}">{escape(column)}</th>'
        for column, kind in zip(columns, kinds, strict=True)
    )
    rows = []
    for row in table.rows:
        cells = "".join(
            _cell(
                _content(row, column),
                kind,
                (row[column] or 0) / largest if column == table.bars and largest else None,
                is_first=column == columns[0],
            )
            for column, kind in zip(columns, kinds, strict=True)
        )
        rows.append(f"<tr>{cells}</tr>")
    body = "\n".join(rows)
    title = escape(table.title)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{title}">'
        f"<table><caption><h2>{title}</h2></caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>{body}</tbody></table></div>"
    )


def _kind(table: Table, column: str) -> str:
    return "code" if column == "line" else "n" if is_numeric(table, column) else ""


def _content(row: Row, column: str) -> str:
    """Rows that are folded open at a click."""
    text, value = escape(cell_of(row, column)), row[column]
    if not isinstance(value, Folded) or len(value) < 2:
        return text
    inner = "<br>".join(escape(" · ".join(filter(None, _cells(each)))) for each in value)
    return f"<details><summary>{text}</summary>{inner}</details>"


def _cells(row: Row) -> list[str]:
    return [cell_of(row, column) for column in row]


def _cell(text: str, kind: str, share: float | None, is_first: bool) -> str:
    """The first names its row."""
    by_length = "long" if len(text) > 40 else "short" if len(text) < 20 else ""
    kinds, style = kind or by_length, ""
    if share is not None:
        kinds, style = "n bar", f' style="background-size: {100 * share:.1f}% 100%"'
    tag, scope = ("th", ' scope="row"') if is_first else ("td", "")
    return f'<{tag}{scope} class="{kinds}"{style}>{text}</{tag}>'
