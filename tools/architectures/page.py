# SPDX-License-Identifier: BSD-3-Clause
"""Results as JSON lines (the newest of a name counts) and as the page docs/architectures.md."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from executorch.tools.measure.json_lines import read_merged

Result = dict[str, Any]
TOLERANCE = 5e-5


def read(path: Path) -> list[Result]:
    """A later run without upstream keeps what upstream did before."""
    return list(read_merged(path).values())


def complete(results: list[Result], upstream: bool) -> set[str]:
    """Names of the rows that need not be run again; seconds are asked for on each engine."""
    engines = ("ours", "upstream") if upstream else ("ours",)
    return {
        result["name"]
        for result in results
        if refused(result)
        or all({"cpu_seconds", "error"} & result.get(s, {}).keys() for s in engines)
    }


def refused(result: Result) -> str | None:
    """Why torch.export, or building the model itself, said no."""
    export = result["export"]
    return export.get("refused") or export.get("error")


def problem(answer: Result) -> str | None:
    """What went wrong on one engine, None where it ran and equals eager."""
    if "error" in answer:
        return f"{answer['step']}: {brief(answer['error'])}"
    if answer.get("difference", 0.0) > TOLERANCE:
        return f"differs from eager by {answer['difference']:.1e}"
    return None


def vanishing(result: Result) -> str | None:
    """Which of eager's outputs could not tell right from wrong, None where all can."""
    dead = result["export"].get("dead")
    return f"vanishing or constant outputs of eager: {', '.join(map(str, dead))}" if dead else None


def seconds(answer: Result) -> str:
    return f"{answer['cpu_seconds']:.2f}" if "cpu_seconds" in answer else ""


def number(value: float | None) -> str:
    return "" if value is None else f"{value:.1e}"


def brief(text: str) -> str:
    """An error on one line of a table, without folders of this machine."""
    line = " ".join(text.split()).replace("`", "'")
    return re.sub(r"/[^ ]*/", "", line).replace("|", "\\|")[:240]


def summary(result: Result) -> str:
    if why := refused(result):
        return f"{result['name']}: torch.export: {brief(why)}"
    ours = result["ours"]
    text = f"{result['name']}: {problem(ours) or vanishing(result) or 'ok'}"
    if "difference" in ours:
        text += f", difference {ours['difference']:.1e} of norm {result['export']['norm']:.2g}"
    if "planned" in ours:
        text += f", {seconds(ours)} s, planned {ours['planned']}, bound {ours['bound']}"
    if upstream := result.get("upstream"):
        text += f"; upstream: {problem(upstream) or 'ok'}"
        if "planned" in upstream:
            text += f", {seconds(upstream)} s, planned {upstream['planned']}"
    return text


HEAD = """# Architectures

Small configurations of Hugging Face `transformers`, each exported with `torch.export`, lowered without a
delegate, run by the runtime and compared with eager PyTorch. Written by
`python -m executorch.tools.architectures --page docs/architectures.md`; nothing is downloaded. Weights are drawn,
then scaled so that each layer's output has variance one on the first call (tools/architectures/weights.py).

`lowering` is CPU seconds of `to_edge(...).to_executorch()` and writing; `planned` is bytes of the planned
arenas; `bound` is the largest set of tensors alive at one step, under which no plan can go. `difference` is the
largest ||found - eager|| / ||eager|| of an output over all outputs and calls, at most 5e-5; `norm` is the smallest
root mean square of an output of eager. An output below 1e-3, or whose standard deviation is below 1e-3 of it, shows
nothing: a program with such an output does not count as equal. Where sizes are dynamic, the calls are the minimum,
the maximum and one between. `upstream` is the wheel of executorch 1.4.1 on the same exported program, in an
environment of its own; where its difference is empty, its columns are those of the page of 2026-11-21, when weights
were the library's own start values.

"""


def page(results: list[Result]) -> str:
    ran = [result for result in results if not refused(result)]
    good = [r for r in ran if problem(r["ours"]) is None and not vanishing(r)]
    lines = [HEAD, counts(ran, good), "\n", *table(good)]
    failed = [(r["name"], problem(r["ours"]) or vanishing(r) or "") for r in ran if r not in good]
    lines += listing("Not equal to eager here", failed)
    no = [(r["name"], brief(refused(r) or "")) for r in results if refused(r)]
    lines += listing("Refused by torch.export or by the model itself", no)
    return "".join(lines)


@dataclass(frozen=True)
class Recorded:
    """Planned bytes of a row of the page."""

    planned: int
    upstream: int | None


def recorded(text: str) -> dict[str, Recorded]:
    """What the table of a page says, by name."""
    rows = [[c.strip() for c in line.split(" | ")] for line in text.splitlines() if "| " in line]
    return {
        cells[0].removeprefix("| "): Recorded(int(cells[5]), int(cells[7]) if cells[7] else None)
        for cells in rows
        if len(cells) == 13 and cells[5].isdigit()
    }


def counts(ran: list[Result], good: list[Result]) -> str:
    close = [r for r in good if r["ours"]["planned"] <= 1.05 * r["ours"]["bound"]]
    both = [r for r in good if "planned" in r.get("upstream", {})]
    below = [r for r in both if r["ours"]["planned"] <= r["upstream"]["planned"]]
    theirs = [r for r in ran if "upstream" in r]
    well = [r for r in theirs if problem(r["upstream"]) is None and not vanishing(r)]
    return (
        f"{len(good)} of {len(ran)} exported programs equal eager here, {len(well)} of {len(theirs)} upstream. "
        f"Operators missing here: {sum('issing' in (problem(r['ours']) or '') for r in ran)}.\n"
        f"Planned bytes are within 5 % of the bound on {len(close)} of {len(good)}, and not above upstream's on "
        f"{len(below)} of the {len(both)} that upstream lowers.\n"
    )


def table(results: list[Result]) -> list[str]:
    lines = [
        "| name | kind | dynamic | lowering s | .pte bytes | planned | bound | upstream planned"
        " | norm | difference | upstream s | upstream difference | upstream |\n",
        "|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n",
    ]
    for result in results:
        ours, upstream = result["ours"], result.get("upstream")
        dynamic = ", ".join(f"{n} {low}-{high}" for n, (low, high) in result["dynamic"].items())
        theirs = upstream or {}
        message = (problem(upstream) or "ok") if upstream else "not asked"
        lines.append(
            f"| {result['name']} | {result['kind']} | {dynamic} | {seconds(ours)}"
            f" | {ours['bytes']} | {ours['planned']} | {ours['bound']} | {theirs.get('planned', '')}"
            f" | {result['export']['norm']:.2g} | {ours['difference']:.1e} | {seconds(theirs)}"
            f" | {number(theirs.get('difference'))} | {message} |\n"
        )
    return lines


def listing(title: str, items: list[tuple[str, str]]) -> list[str]:
    if not items:
        return []
    return [f"\n## {title}\n\n", *(f"- {name}: `{why}`\n" for name, why in items)]
