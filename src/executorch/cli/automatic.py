# SPDX-License-Identifier: BSD-3-Clause
"""What `executorch export --quantize auto` does beside exporting: finds quantizers, splits the data, measures losses,
and writes the report."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.fx import GraphModule

from executorch.cli.eval import Loss
from executorch.cli.evaluating import reading_of
from executorch.cli.sources import Source
from executorch.cli.steps import processing_of
from executorch.devtools.accuracy.data import Data, Sample
from executorch.devtools.accuracy.evaluation import Run, sums_of
from executorch.devtools.accuracy.intervals import Interval, by_group, difference
from executorch.devtools.accuracy.metrics import Metric, Target
from executorch.devtools.accuracy.readers import read
from executorch.devtools.accuracy.whole import Whole, metric_for, whole_program_run
from executorch.devtools.commands.output.words import is_or_are, number_of
from executorch.devtools.commands.python_model import PythonModel
from executorch.devtools.progress import counted
from executorch.exir.backend.lowering.manifest import INT8, BackendManifest
from executorch.exir.capture.diagnostics import export_module
from executorch.export import ExportRecipe
from executorch.export.automatic.estimates import LayerOption
from executorch.export.automatic.mixed import FLOAT
from executorch.export.automatic.search import Found, Search, Try, Unreachable

SHARE, LARGEST = 0.5, 128  # of the data, that calibrates and estimates
FEW = 10  # groups of samples that measure: an interval of fewer says little


def forms_of(backend: BackendManifest) -> dict[str, Any]:
    """Quantizers by name: of int8, and what else the backend's layers may have."""
    names = {INT8: backend.recipe_of.get(INT8, "")} | dict(backend.precisions)
    return {name: _quantizer(backend, named) for name, named in names.items()}


def _quantizer(backend: BackendManifest, name: str) -> Any:
    if not name:
        return backend.named(backend.quantizer)()
    if ":" in name:
        return backend.named(name)()
    made = ExportRecipe.get_recipe(backend.load(backend.recipes)[name]).quantization_recipe
    quantizers = (made and made.get_quantizers()) or []
    if len(quantizers) != 1:
        raise ValueError(f"--quantize auto: expected a recipe {name} of one quantizer")
    return quantizers[0]


@dataclass
class Held:
    """Samples that choose nothing, and how a loss is counted on them."""

    samples: Sequence[tuple[Sample, Target | None]]
    metric: Metric
    own: np.ndarray  # sums of the model
    asked: Loss
    groups: Sequence[str]  # of the samples

    @classmethod
    def of(cls, data: Data, model: Run, metric: Metric, asked: Loss) -> Held:
        samples, sums = [], []
        for sample in counted(data, "samples, what the model gives", len(data)):
            outputs = model(sample.inputs)
            target = sample.target or Target(values=tuple(outputs))
            samples.append((sample, target))
            sums.append(sums_of(metric, outputs, target, sample.name))
        return cls(samples, metric, np.array(sums), asked, data.groups)

    @property
    def unit(self) -> float:
        """What a loss of 1 is. ValueError where nothing can be lost in this metric."""
        own = self.metric.value(self.own)
        if not math.isfinite(own):
            raise ValueError(
                f"--metric {self.metric.name}: the model's own is {own}, beside which no loss is finite: choose error"
            )
        if not self.asked.is_share or (own == 0 and self.metric.name == "error"):
            return 1.0
        if own == 0:
            raise ValueError(
                f"--loss {self.asked.text}: the model's own {self.metric.name} is 0, which has no shares: give a "
                "number in its unit, such as 0.01, or --metric error"
            )
        return abs(own)

    def sums(self, run: Run) -> np.ndarray:
        return np.array(
            [sums_of(self.metric, run(s.inputs), target, s.name) for s, target in self.samples]
        )

    def lost(self, sums: np.ndarray) -> Interval:
        """In the unit, with 95 % of resampled groups of samples."""
        gap = difference(self.metric, by_group(sums, self.groups), by_group(self.own, self.groups))
        ends = sorted((gap.low, gap.high))
        if self.metric.more_is_better:
            return Interval(-gap.value / self.unit, -ends[1] / self.unit, -ends[0] / self.unit)
        return Interval(gap.value / self.unit, ends[0] / self.unit, ends[1] / self.unit)


@dataclass
class Automatic:
    """What was found for one method, and how it is told."""

    method: str
    model: PythonModel
    held: Held
    found: Found
    in_pytorch: Interval
    data: str

    @property
    def source(self) -> dict[str, GraphModule]:
        return {self.method: self.found.graph}


def search(options: argparse.Namespace, source: Source, backend: BackendManifest) -> Automatic:
    """ValueError, with the best found, for a loss that few bits do not keep."""
    if len(source.methods) != 1:
        raise ValueError(
            f"--quantize auto: expected a model of one method, found {', '.join(source.methods)}"
        )
    ((method, model),) = source.methods.items()
    steps = processing_of(options)
    whole = Whole.of(model, steps)
    data = read(options.data, whole.slots, reading_of(options, whole.carried, steps.labels))
    metric = metric_for(options.metric, data, whole.carried)
    calibration, other = data.parts(SHARE, LARGEST)
    held = Held.of(other, whole.run(), metric, options.loss)
    _ = held.unit  # or a sentence, before long work
    calls = [whole.call(sample.inputs) for sample in calibration]
    strict = True if options.strict is None else options.strict
    with torch.no_grad():
        captured = export_module(
            model.module,
            model.inputs,
            model.keywords,
            dynamic_shapes=model.dynamic_shapes,
            strict=strict,
            name=f"method {method}",
        ).module()

    def loss(graph: GraphModule) -> Interval:
        return held.lost(held.sums(whole.run(graph)))

    work = Search(forms_of(backend), calls, loss, metric.is_of_classes, metric.power)
    try:
        found = work.run(captured, options.loss.value)
    except Unreachable as problem:
        raise ValueError(
            f"--loss: expected what any layer in few bits keeps, {_text(problem.best, options.loss)} or more of "
            f"{metric.name} on {number_of(len(other), 'sample')}, found {options.loss.text}; without --quantize "
            "nothing is lost"
        ) from None
    chose, others = number_of(len(calibration), "sample"), number_of(len(other), "other")
    origin = f"{chose} of {options.data} chose, {others} measured"
    return Automatic(method, model, held, found, found.chosen.lost, origin)


# ---- The report ----


@dataclass(frozen=True)
class Made:
    """A program, what was found, what the program loses, and a line for the terminal."""

    target: Path
    found: Found
    lost: Interval
    line: str
    holds: bool


def report(made: Automatic, target: Path, runs_here: bool) -> Made:
    """Writes the report beside the program."""
    asked, held = made.held.asked, made.held
    lost = made.in_pytorch
    where = "in PyTorch"
    if runs_here:
        lost, where = held.lost(held.sums(whole_program_run(target, made.method))), "of the program"
    chosen = made.found.chosen.chosen
    counts = {form: [option.form for option in chosen].count(form) for form in _forms(chosen)}
    layers = ", ".join(f"{count} {form}" for form, count in counts.items())
    line = (
        f"{held.metric.name}: loss {where} {_text(lost.value, asked)} "
        f"({_text(lost.low, asked)} to {_text(lost.high, asked)}), {asked.text} asked; layers: {layers}; "
        f"{made.found.chosen.time:.0%} of the time of floats is estimated"
    )
    if doubt := _doubt(held, lost, made.found.is_sure):
        line += f"\n{doubt}"
    size = target.stat().st_size
    first = made.found.tries[0]
    small, weights = (sum(o.weight_bytes for o in each) for each in (first.chosen, chosen))
    floats = sum(site.options[-1].weight_bytes for site in made.found.sites)
    lines = [
        f"# {target.name}",
        "",
        f"{line}. {made.data}; {held.metric.name} is {held.metric.what}, {held.metric.value(held.own):.4g} of the "
        "model. Intervals hold 95 % of resampled samples (bootstrap). In PyTorch the same loss is "
        f"{_text(made.in_pytorch.value, asked)}.",
        "",
        f"{size:,} bytes. Weights of the layers below: {weights:,} bytes; {small:,} of the choice that costs least, "
        f"which loses {_text(first.lost.value, asked)} and takes {first.time:.0%} of the time of floats; {floats:,} in "
        "floats.",
        "",
        "Tries: " + "; ".join(_try(each, asked) for each in made.found.tries) + ".",
        "",
        "Error: what a form of a layer is thought to cost, in thousandths of what all layers cost with the fewest "
        "bytes. Time: of the layer, estimated, in thousandths of the model's in floats; values that are converted "
        "between forms take more. Layers get more bits in the order of error saved for time and bytes (half of the "
        "time is worth half of the bytes), with their neighbours where converting for them costs more, until the loss "
        "holds.",
        "",
        "| layer | operators | form | error | other forms: error | weights, bytes | time | why |",
        "|---|---|---|--:|---|--:|--:|---|",
        *_rows(made.found),
    ]
    target.with_suffix(".accuracy.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Made(target, made.found, lost, line, lost.value <= asked.value)


def _doubt(held: Held, lost: Interval, is_sure: bool) -> str:
    """What the samples do not show."""
    count, asked = len(set(held.groups)), held.asked
    if lost.value <= asked.value and (lost.high > asked.value or not is_sure):
        return (
            f"{number_of(count, 'sample')} that measured do not show that others lose {asked.text} at most: up to "
            f"{_text(lost.high, asked)}; more --data narrows it"
        )
    if count < FEW:
        return f"{number_of(count, 'sample')} that measured {is_or_are(count)} few: {FEW} or more tell what others lose"
    return ""


def _forms(chosen: Sequence[LayerOption]) -> list[str]:
    return list(
        dict.fromkeys(option.form for option in sorted(chosen, key=lambda o: o.form == FLOAT))
    )


def _try(each: Try, asked: Loss) -> str:
    floats = sum(option.form == FLOAT for option in each.chosen)
    lost = f"{_text(each.lost.value, asked)} (up to {_text(each.lost.high, asked)})"
    return f"{number_of(floats, 'layer')} in floats, {each.time:.0%} of the time, loss {lost}"


def _rows(found: Found) -> list[str]:
    least = [min(site.options, key=lambda option: option.cost) for site in found.sites]
    total = sum(option.error for option in least) or 1.0
    rows = []
    for part, (site, option, small) in enumerate(zip(found.sites, found.chosen.chosen, least)):
        others = ", ".join(
            f"{o.form} {1e3 * o.error / total:.1f}" for o in site.options if o is not option
        )
        cells = (
            site.layer.module or site.layer.name,
            site.layer.operators,
            option.form,
            f"{1e3 * option.error / total:.1f}",
            others,
            f"{option.weight_bytes:,}",
            f"{1e3 * option.seconds / found.costs.floats:.1f}",
            _why(found, part, small, total),
        )
        rows.append((small.error, "| " + " | ".join(cells) + " |"))
    return [row for _, row in sorted(rows, key=lambda row: -row[0])]


def _why(found: Found, part: int, small: LayerOption, total: float) -> str:
    option = found.chosen.chosen[part]
    if option is small:
        return "bears what costs least"
    alone = [small if other == part else each for other, each in enumerate(found.chosen.chosen)]
    more = found.costs.time(alone) - found.chosen.time
    saved = max(0.0, small.error - option.error) / total
    weights = option.weight_bytes - small.weight_bytes
    time = f"{abs(more):.1%} {'more' if more > 0 else 'less'} time"
    return f"{small.form} would be {saved:.1%} of all errors, with {time} and {number_of(weights, 'byte')} less"


def _text(value: float, asked: Loss) -> str:
    return f"{value:.2%}" if asked.is_share else f"{value:.4g}"
