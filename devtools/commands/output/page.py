# SPDX-License-Identifier: BSD-3-Clause
"""A report as one HTML page: no scripts, nothing loaded from elsewhere, light and dark."""

from __future__ import annotations

from html import escape

from executorch.devtools.commands.output.report import (
    Folded,
    Report,
    Row,
    Table,
    cell_of,
    is_numeric,
)

_STYLE = """
:root { color-scheme: light dark; --line: #8885; --bar: #4a7dcf66; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .7rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td { overflow-wrap: anywhere; }
td.n { white-space: nowrap; overflow-wrap: normal; } td.n, th.n { text-align: right; }
td.bar { background: linear-gradient(var(--bar), var(--bar)) no-repeat; }
td.code { font-family: ui-monospace, monospace; font-size: .85rem; }
td.code, td.long { min-width: 11rem; } td.short { white-space: nowrap; }
svg { max-width: 100%; height: auto; } svg text { fill: currentColor; font: 12px system-ui, sans-serif; }
"""


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
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(report.title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head>\n<body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def table_html(table: Table) -> str:
    columns = list(table.rows[0])
    largest = max((row[table.bars] or 0 for row in table.rows), default=0) if table.bars else 0
    kinds = [_kind(table, column) for column in columns]
    head = "".join(
        f'<th class="{kind}">{escape(column)}</th>'
        for column, kind in zip(columns, kinds, strict=True)
    )
    rows = []
    for row in table.rows:
        cells = "".join(
            _cell(
                _content(row, column),
                kind,
                (row[column] or 0) / largest if column == table.bars and largest else None,
            )
            for column, kind in zip(columns, kinds, strict=True)
        )
        rows.append(f"<tr>{cells}</tr>")
    body = "\n".join(rows)
    return (
        f"<h2>{escape(table.title)}</h2>\n<div class=wide><table><thead><tr>{head}</tr></thead>\n"
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


def _cell(text: str, kind: str, share: float | None) -> str:
    if share is not None:
        return f'<td class="n bar" style="background-size: {100 * share:.1f}% 100%">{text}</td>'
    by_length = "long" if len(text) > 40 else "short" if len(text) < 20 else ""
    return f'<td class="{kind or by_length}">{text}</td>'
