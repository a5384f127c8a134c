# SPDX-License-Identifier: BSD-3-Clause
"""Graphs as one HTML page: its scripts and its style stand in it, nothing is loaded from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from executorch.devtools.commands.output.page import SCRIPT, STYLE, figures_html, table_html
from executorch.devtools.commands.output.report import Figure, Table
from executorch.devtools.commands.view.graph import Graph, GraphNode

HERE = Path(__file__).parent
SCRIPTS = ("tree.js", "layout.js", "draw.js", "details.js", "viewer.js")  # in this order
_TEXTS = ("name", "operator", "module", "line", "source", "backend", "why", "change")
_LISTS = ("inputs", "limits")
_NUMBERS = ("num_bytes", "ms", "call")


def graph_page(
    title: str,
    summary: Sequence[str],
    graphs: Sequence[Graph],
    tables: Sequence[Table],
    figures: Sequence[Figure] = (),
) -> str:
    sentences = "\n".join(f"<p>{escape(sentence)}</p>" for sentence in summary)
    parts = {
        "TITLE": escape(title),
        "STYLE": STYLE + (HERE / "viewer.css").read_text(encoding="utf-8"),
        "REPORT": figures_html(figures)
        + sentences
        + "\n".join(table_html(table) for table in tables),
        "DATA": json.dumps(packed(graphs), separators=(",", ":")).replace("</", "<\\/"),
        "SCRIPT": "\n".join(
            [SCRIPT, *((HERE / name).read_text(encoding="utf-8") for name in SCRIPTS)]
        ),
    }
    page = (HERE / "viewer.html").read_text(encoding="utf-8")
    first, *rest = page.split("{{")
    pieces = [first]
    for piece in rest:
        name, _, after = piece.partition("}}")
        pieces += [parts[name], after]
    return "".join(pieces)


def packed(graphs: Sequence[Graph]) -> dict[str, Any]:
    """By column, where texts are places in one list: most of them are many nodes'."""
    texts: dict[str, int] = {}

    def place(text: str) -> int:
        return texts.setdefault(text, len(texts))

    def columns(nodes: Sequence[GraphNode]) -> dict[str, list[Any]]:
        return {
            **{key: [place(getattr(node, key)) for node in nodes] for key in _TEXTS},
            **{key: [getattr(node, key) for node in nodes] for key in (*_LISTS, *_NUMBERS)},
            "outputs": [[place(each) for each in node.outputs] for node in nodes],
            "weights": [
                [[each.name, each.kind, each.low, each.high, each.bins] for each in node.weights]
                for node in nodes
            ],
        }

    packed_graphs = [
        {"file": each.file, "method": each.method, "memory": each.memory, **columns(each.nodes)}
        for each in graphs
    ]
    return {"texts": list(texts), "graphs": packed_graphs}
