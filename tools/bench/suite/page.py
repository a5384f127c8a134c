# SPDX-License-Identifier: BSD-3-Clause
"""Results as a page: the distributions of the ratios, then each network, the worst first, then who refused or was
wrong."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from executorch.tools.bench.figures import processor
from executorch.tools.bench.suite.ratios import (
    OURS,
    PLAIN,
    RIGHT,
    RIVALS,
    by_worst,
    columns,
    distribution,
    is_wrong,
    pairs,
    ratio,
    repeated,
    spread,
    tables,
    taken,
)
from executorch.tools.bench.suite.results import Row, of_one_run

CLOCKS = {
    "ms": "Milliseconds that pass in one run",
    "busy": "Milliseconds of processors in one run",
}
PRECISIONS = {"float": "float32", "int8": "int8", "dynamic": "int8, rows scaled as they come"}
HEAD = """# Networks beside their rivals

{clock}, {precision}, {threads}, batch {batch}: minima over {rounds} rounds of one run of the command, in each of
which the engines take turns in drawn order. Weights are random. `xnnpack` and `kernels` are ours with the delegate
and without; `best` is the ratio of ours with the delegate to the best of {rivals}, `median` the same by the medians
of the rounds, `rounds` its least and largest of one round, `again` when the network was measured a second time at the
end, `leave` the ratio to ours without. Worst first. Each rival is run in the ways that its users take, and the
fastest that is right counts: ONNX Runtime plain and with its fusions for transformers, both with bound inputs and
outputs; OpenVINO through ONNX and
from the exported program. Whoever differs from eager by more than {right} of the outputs' norm counts as wrong.

{date}, commit {commit}, {processor}. {note}

    {command}

"""
CUT = "Smaller than published: {cuts}. All others are whole.\n\n"


def summary(rows: list[Row]) -> str:
    """A line a pair of engines; beside the worst its spread over the rounds, and what it was when measured again."""
    lines = [
        "| ratio | networks | geometric mean | median | 90th percentile | worst | of |",
        "|---|--:|--:|--:|--:|--:|---|",
    ]
    by_name = {row["name"]: row for row in rows}
    engines = {label: (above, *below) for label, above, below in pairs(rows)}
    for label, found in tables(rows):
        mean, median, ninth, worst = distribution(found)
        message = f"{found[worst]:.2f}"
        if label in engines:
            message += _varied(by_name[worst], engines[label])
        lines.append(
            f"| {label} | {len(found)} | {mean:.2f} | {median:.2f} | {ninth:.2f} | {message} | {worst} |"
        )
    return "\n".join(lines) + "\n"


def _varied(row: Row, pair: tuple[str, ...]) -> str:
    words = []
    if ends := spread(row, *pair):
        words.append(f"rounds {ends[0]:.2f} to {ends[1]:.2f}")
    if second := repeated(row, *pair):
        words.append(f"again {second:.2f}")
    return f" ({', '.join(words)})" if words else ""


def _ratios(row: Row) -> list[str]:
    best = (OURS, *RIVALS)
    ends = spread(row, *best)
    cells = [ratio(row, *best), ratio(row, *best, by="median")]
    words = ["" if each is None else f"{each:.2f}" for each in cells]
    words.append(f"{ends[0]:.2f}-{ends[1]:.2f}" if ends else "")
    later = [repeated(row, *best), ratio(row, OURS, PLAIN)]
    return words + ["" if each is None else f"{each:.2f}" for each in later]


RATIOS = ("best", "median", "rounds", "again", "leave")


def line(row: Row, engines: Sequence[str]) -> str:
    cells = ["" if (ms := taken(row, engine)) is None else f"{ms:.2f}" for engine in engines]
    ways = [row["engines"].get(engine, {}).get("way", "") for engine in RIVALS]
    return f"| {' | '.join([row['name'], row['family'], *cells, *_ratios(row), *ways])} |"


def head(engines: Sequence[str]) -> str:
    """Of rows for the terminal."""
    return f"{'network':18s}{''.join(map(_title, engines))}   best  leave"


def _title(engine: str) -> str:
    return f"{engine:>{max(12, len(engine) + 2)}s}"


def brief(row: Row) -> str:
    """A row for the terminal, and what went wrong."""
    times = {engine: taken(row, engine) for engine in columns([row])}
    ratios = [ratio(row, OURS, *RIVALS), ratio(row, OURS, PLAIN)]
    words = f"{row['name']:18s}"
    for engine, ms in times.items():
        words += f"{f'{ms:.2f}' if ms else '':>{len(_title(engine))}s}"
    words += "".join(f"{each:7.2f}" if each else " " * 7 for each in ratios)
    return "\n".join([words, *(f"    {problem}" for problem in problems([row]))])


def problems(rows: list[Row]) -> list[str]:
    """Engines that refused a network, each with the first line of what it said, and those that were wrong."""
    found = []
    for row in rows:
        for engine, answer in row["engines"].items():
            message = answer.get("error", "")
            if not message and is_wrong(row, engine):
                message = f"wrong: differs from eager by {answer['difference']:.2g}"
            if message:
                message = " ".join(message.split())[:160].replace("|", "/")
                found.append(f"| {row['name']} | {engine} | {message} |")
    return found


def text(rows: list[Row], command: str, note: str, picture: str) -> str:
    first = of_one_run(rows)[0]
    rounds = [len(each.get("rounds", ())) for row in rows for each in row["engines"].values()]
    cuts = {row["name"]: row["cut"] for row in rows if row.get("cut")}
    head = HEAD.format(
        clock=CLOCKS[first["clock"]],
        precision=PRECISIONS.get(first["precision"], first["precision"]),
        threads="1 thread" if first["threads"] == 1 else f"{first['threads']} threads",
        batch=first.get("batch", 1),
        rounds=max(rounds, default=0),
        rivals=" and ".join(RIVALS),
        right=f"{RIGHT[first['precision']]:g}",
        date=first.get("run", date.today().isoformat())[:10],
        commit=first.get("commit", "unknown"),
        processor=processor(),
        note=note,
        command=command,
    )
    if cuts:
        head += CUT.format(cuts="; ".join(f"{name} ({cut})" for name, cut in cuts.items()))
    engines = columns(rows)
    titles = [*engines, *RATIOS, *(f"{engine} by" for engine in RIVALS)]
    table = f"| network | family | {' | '.join(titles)} |\n"
    table += "|---|---|" + "--:|" * (len(engines) + len(RATIOS)) + "---|" * len(RIVALS) + "\n"
    table += "\n".join(line(row, engines) for row in by_worst(rows)) + "\n"
    refused = problems(rows)
    if refused:
        heading = [
            "",
            "## Refused or wrong",
            "",
            "| network | engine | what it said |",
            "|---|---|---|",
        ]
        refused = [*heading, *refused, ""]
    return f"{head}{summary(rows)}\n![ratios]({picture})\n\n{table}" + "\n".join(refused)
