# SPDX-License-Identifier: BSD-3-Clause
"""A program, or two, as a page with its graph: the report of `view`."""

from __future__ import annotations

import argparse
import tempfile
import webbrowser
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from executorch.devtools.commands.diff import differences
from executorch.devtools.commands.output.report import Figure, Report, Row, Table
from executorch.devtools.commands.output.words import number_of, sized
from executorch.devtools.commands.times import THE_MODEL
from executorch.devtools.commands.view.changes import mark_changes
from executorch.devtools.commands.view.graph import BY_KERNELS, Graph, as_json
from executorch.devtools.commands.view.page import graph_page
from executorch.devtools.commands.view.sources import Source, read

_SHARES = ("operators", "bytes")


def report(arguments: argparse.Namespace) -> Report:
    sources = _sources(arguments)
    graphs = [each.graphs() for each in sources]
    if len(sources) == 2:
        graphs = list(mark_changes(*graphs, [each.title for each in sources]))
    listed = [graph for each in graphs for graph in each]
    title = " | ".join(each.title for each in sources)
    summary = [sentence for each in sources for sentence in _sentences(each, len(sources) == 2)]
    tables = [table for each in sources for table in each.tables]
    files = [each.file for each in sources if each.file is not None]
    if len(files) == 2:
        compared = differences(*files)
        summary, tables = [*summary, *compared.summary], [*tables, *compared.tables]
    tables = [*(_modules(*each) for each in zip(sources, graphs, strict=True)), *tables]
    figures = _figures(listed)
    shown = [table for table in tables if table.rows]
    page = graph_page(title, summary, listed, shown, figures)
    if arguments.html is None and not arguments.json:
        summary = [*summary, _opened(page, sources[0].title)]
    facts = {"graphs": [as_json(each) for each in listed]}
    return Report(title, summary, tables, facts=facts, page=page, figures=figures)


def _sources(arguments: argparse.Namespace) -> list[Source]:
    if len(arguments.files) > 2:
        raise ValueError(f"expected one file or two, found {len(arguments.files)}")
    several = len(arguments.files) == 2
    for option in ("etrecord", "etdump"):
        if len(getattr(arguments, option)) > len(arguments.files):
            raise ValueError(f"--{option}: expected one for each file at most")
    records, dumps = (
        [*given, None, None][: len(arguments.files)]
        for given in (arguments.etrecord, arguments.etdump)
    )
    names = [path.name for path in arguments.files]
    if several and names[0] == names[1]:
        names = [str(path) for path in arguments.files]
    if several and names[0] == names[1]:
        names[1] += " (again)"
    return [read(*each) for each in zip(arguments.files, records, dumps, names, strict=True)]


def _sentences(source: Source, is_named: bool) -> list[str]:
    prefix = f"{source.title}: " if is_named else ""
    found = []
    for graph in source.graphs():
        count = Counter(node.backend for node in graph.nodes if node.is_call)
        engines = ", ".join(
            f"{number:,} {engine or 'without a call of their own'}"
            for engine, number in count.most_common()
        )
        found.append(
            f"{prefix}{graph.method}: {number_of(sum(count.values()), 'operator')}: {engines}"
        )
        if graph.memory:
            peak = max(graph.memory)
            found.append(
                f"{prefix}at most {number_of(peak, 'planned byte')} are alive, at call {graph.memory.index(peak)}"
            )
    return [*found, *(f"{prefix}{note}" for note in source.notes)]


def _figures(graphs: Sequence[Graph]) -> list[Figure]:
    calls = [node for graph in graphs for node in graph.nodes if node.is_call]
    delegated = sum(node.backend not in ("", BY_KERNELS) for node in calls)
    peaks = [max(graph.memory) for graph in graphs if graph.memory]
    return [
        Figure("operators", f"{len(calls):,}"),
        *([Figure("by backends", f"{delegated / len(calls):.1%}")] if calls else []),
        *([Figure("planned memory alive at most", sized(max(peaks)))] if peaks else []),
    ]


def _modules(source: Source, graphs: Sequence[Graph]) -> Table:
    """Operators and bytes of each module, with all that is inside of it."""
    found: dict[str, Counter[str]] = {}
    for graph in graphs:
        for node in graph.nodes:
            parts = node.module.split(".") if node.module else []
            for count in range(len(parts) + 1):
                counter = found.setdefault(".".join(parts[:count]), Counter())
                counter.update(operators=int(node.is_call), bytes=node.num_bytes)
    rows: list[Row] = [
        {"module": module or THE_MODEL, **{share: counter[share] for share in _SHARES}}
        for module, counter in found.items()
    ]
    rows.sort(key=lambda row: (-row["bytes"], -row["operators"]))
    return Table(f"{source.title} modules", f"Modules: {source.title}", rows, "bytes", shown=10)


def _opened(page: str, title: str) -> str:
    folder = Path(tempfile.mkdtemp(prefix="executorch-view-"))
    path = folder / f"{Path(title).stem}.html"
    path.write_text(page, encoding="utf-8")
    if webbrowser.open(path.as_uri()):
        return f"{path} is open in the browser; --html PAGE writes it elsewhere."
    return f"{path} has the page; no browser was found that opens it."
