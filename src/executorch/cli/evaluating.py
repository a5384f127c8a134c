# SPDX-License-Identifier: BSD-3-Clause
"""What `executorch eval` does."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from executorch.cli.sources import source
from executorch.devtools.accuracy.data import Slot
from executorch.devtools.accuracy.evaluation import Counted, Run, counted_on, program_slots
from executorch.devtools.accuracy.intervals import Interval, difference, interval, method_of
from executorch.devtools.accuracy.metrics import Metric
from executorch.devtools.accuracy.readers import Reading, read
from executorch.devtools.accuracy.whole import (
    Whole,
    metric_for,
    program_carried,
    whole_program_run,
)
from executorch.devtools.commands.check import missing_here
from executorch.devtools.commands.output.page import page
from executorch.devtools.commands.output.report import Figure, Report, Table
from executorch.devtools.commands.output.words import number_of, timed
from executorch.devtools.commands.program_file import program_of
from executorch.devtools.commands.python_model import PythonModel
from executorch.extension.llm.export.texts import read_tokenizer
from executorch.extension.processing.carried import Carried, labels_of
from executorch.extension.processing.steps import Processing

PROGRAM = ".pte"


def reading_of(
    options: argparse.Namespace, carried: Carried, labels: tuple[str, ...] = ()
) -> Reading:
    tokenizer = read_tokenizer(str(options.tokenizer)) if options.tokenizer else None
    return Reading(options.mean, options.std, tokenizer, carried.channels or "RGB", labels)


def evaluate(options: argparse.Namespace) -> int:
    programs = [each for each in options.subjects if each.endswith(PROGRAM)]
    models = [each for each in options.subjects if not each.endswith(PROGRAM)]
    if len(models) > 1:
        raise ValueError(f"expected one MODEL and .pte files, found {' and '.join(models)}")
    runs: dict[str, Run] = {}
    slots: Sequence[Slot] = ()
    carried = _carried(programs, options.method)
    steps = Processing(carried.preprocess, carried.postprocess)
    for model in models:
        whole = Whole.of(_method(model, options.method), steps)
        runs[model], slots = whole.run(), whole.slots
    for program in programs:
        path = Path(program)
        if lacking := missing_here(path):
            raise ValueError(f"{program}: the runtime of this package does not have {lacking[0]}")
        runs[program], slots = (
            whole_program_run(path, options.method),
            program_slots(path, options.method),
        )
    labels = labels_of(program_of(Path(programs[0])).user_metadata) if programs else ()
    data = read(options.data, slots, reading_of(options, carried, labels))
    metric = metric_for(options.metric, data, carried)
    has_targets = data.has_labels or data.has_values
    if not has_targets and not (models and programs):
        raise ValueError(
            f"{options.data}: expected labels or targets, or a model and its program to measure by it, found neither"
        )
    model = models[0] if models else None
    found = counted_on(data, runs, metric, model)
    if not has_targets and model is not None:
        found.pop(model)  # it is what the others are measured by
    rows = [_row(name, metric, each, found.get(model or "")) for name, each in found.items()]
    head = {
        "data": str(options.data),
        "kind": data.kind,
        "samples": len(data),
        "metric": metric.name,
        "what": metric.what,
        "beside": "labels" if data.has_labels else "targets" if data.has_values else model,
        "more is better": metric.more_is_better,
        "interval": f"95 %, {method_of(metric)}",
    }
    if options.html is not None:
        made = page(report_of(head, rows), "executorch eval")
        options.html.write_text(made, encoding="utf-8")
    print(json.dumps({**head, "rows": rows}) if options.json else _text(head, rows, metric))
    return 0


def report_of(head: dict[str, Any], rows: list[dict[str, Any]]) -> Report:
    """Of the first program: its metric, how it stands beside the model, and a call's time."""
    first = next((row for row in rows if "beside the model" in row), rows[0])
    name, gap = head["metric"], first.get("beside the model")
    verdict = f"{first['name']}: {name} {first['value']:.4g} ({_between(first)})"
    figures = [Figure(f"{name} of {first['name']}", f"{first['value']:.4g}")]
    if gap is not None:
        differs = not gap["low"] <= 0 <= gap["high"]
        beside = f"{gap['value']:+.4g} beside the model"
        verdict += f", {beside}" + ("" if differs else ": no difference is shown")
        figures.append(Figure("beside the model", f"{gap['value']:+.4g}"))
    figures.append(Figure("a call takes", timed(first["milliseconds"])))
    more = "more" if head["more is better"] else "less"
    shown = [
        {
            "name": row["name"],
            name: row["value"],
            "95 % interval": _between(row),
            "beside the model": row.get("beside the model", {}).get("value"),
            "its interval": _between(row["beside the model"]) if "beside the model" in row else "",
            "a call ms": row["milliseconds"],
        }
        for row in rows
    ]
    return Report(
        f"{name} on {head['data']}",
        [
            f"{verdict}.",
            f"{number_of(head['samples'], 'sample')} ({head['kind']}), beside {head['beside']}.",
            f"{name}: {head['what']}; {more} is better; intervals: {head['interval']}.",
        ],
        [Table("programs", "Models and programs", shown)],
        figures=figures,
    )


def _between(found: dict[str, Any]) -> str:
    return f"{found['low']:.4g} to {found['high']:.4g}"


def _carried(programs: Sequence[str], method: str) -> Carried:
    """The steps around the model, of all programs; a model beside them gets these, too."""
    found = {each: program_carried(Path(each), method) for each in programs}
    first = next(iter(found.values()), Carried())
    for name, each in found.items():
        if each != first:
            raise ValueError(
                f"expected programs with the same steps before and after the model, found {_steps(first)} in "
                f"{programs[0]} and {_steps(each)} in {name}"
            )
    return first


def _steps(carried: Carried) -> str:
    return " and ".join(filter(None, (carried.preprocess, carried.postprocess))) or "none"


def _method(spec: str, name: str) -> PythonModel:
    methods = source(spec).methods
    chosen = name or ("forward" if "forward" in methods else min(methods))
    if chosen not in methods:
        raise ValueError(f"{spec}: expected a method of {', '.join(methods)}, found {chosen}")
    return methods[chosen]


def _row(name: str, metric: Metric, each: Counted, model: Counted | None) -> dict[str, Any]:
    row: dict[str, Any] = {"name": name, **_numbers(interval(metric, each.sums))}
    if model is not None and model is not each:
        row["beside the model"] = _numbers(difference(metric, each.sums, model.sums))
    row["milliseconds"] = float(sorted(each.milliseconds)[len(each.milliseconds) // 2])
    return row


def _numbers(found: Interval) -> dict[str, float]:
    return {"value": found.value, "low": found.low, "high": found.high}


def _text(head: dict[str, Any], rows: list[dict[str, Any]], metric: Metric) -> str:
    has_model = any("beside the model" in row for row in rows)
    columns = ["", metric.name, "95 % interval", *["beside the model"] * has_model, "ms a call"]
    lines = [columns]
    for row in rows:
        gap = row.get("beside the model")
        between = f"{gap['value']:+.4g} ({gap['low']:+.4g} to {gap['high']:+.4g})" if gap else ""
        lines.append(
            [
                row["name"],
                f"{row['value']:.4g}",
                f"{row['low']:.4g} to {row['high']:.4g}",
                *[between] * has_model,
                f"{row['milliseconds']:.2f}",
            ]
        )
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    table = ["  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() for line in lines]
    more = "more" if metric.more_is_better else "less"
    return "\n".join(
        [
            f"{number_of(head['samples'], 'sample')} of {head['data']} ({head['kind']}), beside {head['beside']}",
            f"{metric.name}: {metric.what}; {more} is better; intervals by {method_of(metric)}",
            *table,
        ]
    )
