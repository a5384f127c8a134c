# SPDX-License-Identifier: BSD-3-Clause
"""Metrics by name. Each sample gives two sums, of which a metric is a function of the ratio of their totals: so shares,
means, perplexities and decibels are counted, and have intervals, in one way."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from executorch.devtools.commands import python_model

Sums = tuple[float, float]
Outputs = Sequence[np.ndarray]


@dataclass(frozen=True)
class Target:
    """What a sample should give: `labels`, one for each row of classes (their numbers), or `values`, one for each
    output."""

    labels: np.ndarray | None = None
    values: tuple[np.ndarray, ...] | None = None


@dataclass(frozen=True)
class Metric:
    """`sums`: of one sample; `of`: the metric of a ratio. `is_share`: it counts what is right. `is_of_classes`: the
    first output has a row of numbers for classes. `power`: a loss in it grows with that of the errors that curvature.py
    estimates."""

    name: str
    what: str
    sums: Callable[[Outputs, Target], Sums]
    of: Callable[[float], float] = float
    more_is_better: bool = True
    is_share: bool = False
    is_of_classes: bool = False
    power: float = 0.5

    def value(self, sums: np.ndarray) -> float:
        """Of [samples, 2]."""
        above, below = sums.sum(0)
        return self.of(above / below) if below else math.nan


# ---- Classes ----


def _rows(outputs: Outputs, target: Target) -> tuple[np.ndarray, np.ndarray]:
    """Scores [rows, classes], and the class that each row should have."""
    scores = np.asarray(outputs[0], dtype=np.float64)
    if scores.ndim == 0:
        raise ValueError(
            "expected a row of numbers for classes as the first output, found a number"
        )
    rows = scores.reshape(-1, scores.shape[-1])
    labels = target.labels
    if labels is None:
        if target.values is None:
            raise ValueError("expected labels: subfolders of pictures, or `label` in a .npz file")
        wanted = np.asarray(target.values[0])
        if wanted.shape != scores.shape:
            raise ValueError(
                f"expected outputs of {wanted.shape}, as targets are, found {scores.shape}"
            )
        labels = wanted.reshape(rows.shape).argmax(-1)
    labels = np.asarray(labels).reshape(-1)
    if len(labels) != len(rows):
        raise ValueError(
            f"expected a label for each row of the first output, of {scores.shape}, found {len(labels)} labels"
        )
    if labels.size and not 0 <= labels.min() <= labels.max() < rows.shape[1]:
        raise ValueError(
            f"expected labels from 0 to {rows.shape[1] - 1}, as the first output has {rows.shape[1]} classes, found "
            f"{labels.min()} to {labels.max()}"
        )
    return rows, labels


def _top(count: int) -> Callable[[Outputs, Target], Sums]:
    def sums(outputs: Outputs, target: Target) -> Sums:
        rows, labels = _rows(outputs, target)
        of_label = np.take_along_axis(rows, labels[:, None], 1)
        better = (rows > of_label).sum(1)
        ties = (np.cumsum(rows == of_label, 1) - 1)[np.arange(len(rows)), labels]
        return float((better + ties < count).sum()), float(len(rows))

    return sums


def _nats(outputs: Outputs, target: Target) -> Sums:
    rows, labels = _rows(outputs, target)
    highest = rows.max(1, keepdims=True)
    total = np.log(np.exp(rows - highest).sum(1)) + highest[:, 0]
    return float((total - rows[np.arange(len(rows)), labels]).sum()), float(len(rows))


# ---- Values ----


def _pairs(outputs: Outputs, target: Target) -> list[tuple[np.ndarray, np.ndarray]]:
    if target.values is None:
        raise ValueError(
            "expected targets: `target` in a .npz file, or the model beside its program"
        )
    wanted = [np.asarray(each) for each in target.values]
    found = [np.asarray(each) for each in outputs]
    sizes = [tuple(each.shape for each in some) for some in (wanted, found)]
    if sizes[0] != sizes[1]:
        raise ValueError(
            f"expected outputs of {_text(sizes[0])}, as targets are, found {_text(sizes[1])}"
        )
    return [(f.astype(np.float64), w.astype(np.float64)) for f, w in zip(found, wanted)]


def _text(sizes: Sequence[tuple[int, ...]]) -> str:
    return ", ".join(str(list(each)) for each in sizes) or "none"


def _noise(outputs: Outputs, target: Target) -> Sums:
    """Each output counts by its own size."""
    noise = signal = 0.0
    for found, wanted in _pairs(outputs, target):
        energy = float(np.square(wanted).sum()) or 1.0
        noise += float(np.square(found - wanted).sum()) / energy
        signal += 1.0
    return noise, signal


def _of_all(measure: Callable[[np.ndarray], np.ndarray]) -> Callable[[Outputs, Target], Sums]:
    def sums(outputs: Outputs, target: Target) -> Sums:
        gaps = [measure(found - wanted) for found, wanted in _pairs(outputs, target)]
        return float(sum(each.sum() for each in gaps)), float(sum(each.size for each in gaps))

    return sums


def _cosine(outputs: Outputs, target: Target) -> Sums:
    total, count = 0.0, 0
    for found, wanted in _pairs(outputs, target):
        lengths = float(np.linalg.norm(found) * np.linalg.norm(wanted))
        total += float((found * wanted).sum()) / lengths if lengths else 1.0
        count += 1
    return total, float(count)


def _decibels(ratio: float) -> float:
    return -10 * math.log10(ratio) if ratio > 0 else math.inf


_ROWS = (
    Metric("top1", "share of rows whose largest class is the label", _top(1), is_share=True, is_of_classes=True),
    Metric("top5", "share of rows whose label is among the five largest", _top(5), is_share=True, is_of_classes=True),
    Metric("perplexity", "e to the mean loss of a row", _nats, math.exp, False, is_of_classes=True, power=1.0),
    Metric("error", "|output - target| / |target|", _noise, math.sqrt, False),
    Metric("snr", "the same in decibels: 20 for an error of 0.1", _noise, _decibels),
    Metric("mse", "mean square of output - target", _of_all(np.square), more_is_better=False, power=1.0),
    Metric("mae", "mean of |output - target|", _of_all(np.abs), more_is_better=False),
    Metric("cosine", "cosine of the angle between output and target", _cosine),
)  # fmt: skip
METRICS = {each.name: each for each in _ROWS}


def metric_of(name: str) -> Metric:
    """Of the table, or a Python function by `module:function` or `file.py:function`. ValueError for others."""
    if name in METRICS:
        return METRICS[name]
    if not python_model.is_python(name):
        raise ValueError(
            f"--metric: expected {', '.join(METRICS)}, or a function as file.py:name, found {name}"
        )
    function = python_model.named(name)
    if not callable(function):
        raise ValueError(
            f"--metric: expected a function of (outputs, target) that gives a number, found {name}"
        )
    return of_function(name, function)


def of_function(name: str, function: Callable[..., Any]) -> Metric:
    """The mean of what `function(outputs, target)` gives for a sample: lists of arrays, or `target` the labels. More is
    better, unless it has an attribute `less_is_better`."""

    def sums(outputs: Outputs, target: Target) -> Sums:
        wanted: Any = target.labels
        if wanted is None:
            wanted = None if target.values is None else list(target.values)
        found = function(list(outputs), wanted)
        try:
            return float(found), 1.0
        except (TypeError, ValueError):
            raise ValueError(
                f"--metric {name}: expected a number of each sample, found {type(found).__name__}"
            ) from None

    is_less = bool(getattr(function, "less_is_better", False))
    doc = (function.__doc__ or "the mean of a function").strip().splitlines()[0]
    return Metric(name, doc, sums, more_is_better=not is_less)
