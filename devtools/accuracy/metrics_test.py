# SPDX-License-Identifier: BSD-3-Clause
"""Metrics on numbers whose results are seen by eye, and their intervals."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from executorch.devtools.accuracy.intervals import by_group, difference, interval, wilson
from executorch.devtools.accuracy.metrics import METRICS, Target, metric_of

SCORES = np.array([[0.0, 3.0, 1.0], [2.0, 1.0, 0.0]])


def _value(name: str, outputs: list[np.ndarray], target: Target) -> float:
    metric = METRICS[name]
    return metric.value(np.array([metric.sums(outputs, target)]))


@pytest.mark.parametrize(
    ("name", "labels", "expected"),
    [
        ("top1", [1, 0], 1.0),
        ("top1", [1, 2], 0.5),
        ("top5", [0, 2], 1.0),
        ("perplexity", [1, 0], math.exp(-np.log(np.exp(3) / (1 + np.exp(3) + np.e)) / 2
            - np.log(np.exp(2) / (np.exp(2) + np.e + 1)) / 2)),
    ],
)  # fmt: skip
def test_metrics_of_classes(name: str, labels: list[int], expected: float) -> None:
    assert _value(name, [SCORES], Target(labels=np.array(labels))) == pytest.approx(expected)


def test_equal_scores_are_no_hit_for_all_of_them() -> None:
    """Of equal numbers the first is the largest, as argmax has it."""
    equal = np.zeros((1, 10))
    hits = [_value("top1", [equal], Target(labels=np.array([label]))) for label in range(10)]
    assert hits == [1.0] + [0.0] * 9
    assert sum(_value("top5", [equal], Target(labels=np.array([k]))) for k in range(10)) == 5


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("error", 1 / 5),
        ("snr", 20 * math.log10(5)),
        ("mse", 1 / 2),
        ("mae", 1 / 2),
        ("cosine", (9 + 20) / (5 * math.sqrt(34))),
    ],
)
def test_metrics_of_values(name: str, expected: float) -> None:
    found, wanted = np.array([3.0, 5.0]), np.array([3.0, 4.0])
    assert _value(name, [found], Target(values=(wanted,))) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "target", "message"),
    [
        ("top1", Target(labels=np.array([1])), "a label for each row .* found 1 labels"),
        ("top1", Target(labels=np.array([1, 3])), "labels from 0 to 2, .* found 1 to 3"),
        ("top1", Target(), "expected labels"),
        ("mse", Target(), "expected targets"),
        ("mse", Target(values=(np.zeros(3),)), r"outputs of \[3\], .* found \[2, 3\]"),
    ],
)
def test_what_does_not_go_together_is_said(name: str, target: Target, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        METRICS[name].sums([SCORES], target)


def test_a_function_is_a_metric(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "def gap(outputs, target):\n    return abs(outputs[0] - target).max()\ngap.less_is_better = True\n"
    )
    metric = metric_of(f"{tmp_path / 'mine.py'}:gap")
    assert not metric.more_is_better
    assert metric.sums([np.array([1.0, 5.0])], Target(labels=np.array([1, 2]))) == (3.0, 1.0)
    with pytest.raises(ValueError, match="expected top1, .* found topp"):
        metric_of("topp")
    with pytest.raises(ValueError, match="expected a function"):
        metric_of(f"{tmp_path / 'mine.py'}:other")


def test_wilson_holds_where_all_is_right() -> None:
    """(p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n), of 8 of 10 and of 10 of 10, z = 1.96."""
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(10, 10) == pytest.approx((1 / (1 + 1.96**2 / 10), 1.0), abs=1e-4)


def test_resampled_intervals_hold_the_mean() -> None:
    """Of 400 normal numbers the mean is within 2 / 20 of theirs; what a pair shares is not in its difference."""
    noise = np.random.default_rng(3).standard_normal(400)
    sums = np.stack([1 + noise, np.ones(400)], 1)
    found = interval(METRICS["mae"], sums)
    assert found.low < found.value < found.high
    assert found.high - found.low == pytest.approx(2 * 1.96 / 20, rel=0.15)
    gap = difference(METRICS["mae"], sums + [[0.25, 0.0]], sums)
    assert (gap.value, gap.low, gap.high) == pytest.approx((0.25, 0.25, 0.25))


def test_few_samples_say_less() -> None:
    """The mean of n normal numbers: +- Student's quantile times the deviation over the root of n, for 3 degrees
    3.182, where percentiles alone are a third as wide."""
    sums = np.stack([[-1.5, -0.5, 0.5, 1.5], np.ones(4)], 1)
    gap = difference(METRICS["mae"], sums, np.zeros((4, 2)) + [0, 1])
    deviation = math.sqrt(5 / 3)
    assert gap.high == pytest.approx(1.5)  # of four numbers no mean is larger
    assert gap.high - gap.low > 2 * 1.96 * deviation / 2
    many = np.random.default_rng(0).standard_normal(16)
    gap = difference(METRICS["mae"], np.stack([many, np.ones(16)], 1), np.zeros((16, 2)) + [0, 1])
    width = 2 * 2.131 * many.std(ddof=1) / 4
    assert gap.high - gap.low == pytest.approx(width, rel=0.06)


def test_groups_are_resampled_as_a_whole() -> None:
    """Eight samples of two kinds that differ by 1, in groups of four: the mean of a group is 0 or 1."""
    sums = np.array([[0.0, 1.0]] * 4 + [[1.0, 1.0]] * 4)
    groups = by_group(sums, ["a"] * 4 + ["b"] * 4)
    assert groups.tolist() == [[0, 4], [4, 4]]
    found = interval(METRICS["mae"], groups)
    assert (found.value, found.low, found.high) == (0.5, 0.0, 1.0)
    alone = interval(METRICS["mae"], sums)
    assert 0 < alone.low < alone.high < 1
