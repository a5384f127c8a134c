# SPDX-License-Identifier: BSD-3-Clause
"""Where a metric would be on other data of the kind: 95 % intervals. Shares of what is right have Wilson's, which holds
for few samples and for all right; the others, and gaps between two, resample the samples (bootstrap), of which few say
less: percentiles are further out, as Student's quantiles are (Hesterberg, arXiv 1411.5279, "expanded percentiles")."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from executorch.devtools.accuracy.metrics import Metric

WILSON, BOOTSTRAP = "Wilson", "bootstrap"
_Z = 1.959964  # of 95 %
_DRAWS = 2000
_SEED = 0


@dataclass(frozen=True)
class Interval:
    value: float
    low: float
    high: float


def method_of(metric: Metric) -> str:
    return WILSON if metric.is_share else BOOTSTRAP


def interval(metric: Metric, sums: np.ndarray) -> Interval:
    """Of [samples, 2]."""
    value = metric.value(sums)
    if metric.is_share:
        return Interval(value, *wilson(*sums.sum(0)))
    return Interval(value, *_bootstrap(len(sums), lambda drawn: metric.value(sums[drawn])))


def wilson(right: float, count: float) -> tuple[float, float]:
    share, more = right / count, _Z**2 / count
    middle = (share + more / 2) / (1 + more)
    half = math.sqrt(share * (1 - share) * more + more**2 / 4) / (1 + more)
    return max(0.0, middle - half), min(1.0, middle + half)


def by_group(sums: np.ndarray, groups: Sequence[str]) -> np.ndarray:
    """[groups, 2]: to resample what belongs together as a whole."""
    names, places = np.unique(groups, return_inverse=True)
    found = np.zeros((len(names), sums.shape[1]))
    np.add.at(found, places, sums)
    return found


def difference(metric: Metric, sums: np.ndarray, others: np.ndarray) -> Interval:
    """By how much `sums` is above `others`, of the same samples."""

    def gap(drawn: np.ndarray | slice) -> float:
        return metric.value(sums[drawn]) - metric.value(others[drawn])

    return Interval(gap(slice(None)), *_bootstrap(len(sums), gap))


def _bootstrap(count: int, measure: Callable[[np.ndarray], float]) -> tuple[float, float]:
    """Both ends are the value where there is one sample."""
    generator = np.random.default_rng(_SEED)
    drawn = [measure(generator.integers(0, count, count)) for _ in range(_DRAWS)]
    finite = [each for each in drawn if math.isfinite(each)]
    if not finite:
        return drawn[0], drawn[0]
    tail = 100 * _tail(count)
    low, high = np.percentile(finite, [tail, 100 - tail])
    return float(low), float(high)


def _tail(count: int) -> float:
    """The share below the lower end: of normal numbers with the quantile of Student's distribution (to the third order
    in 1 / its degrees), times the root of n / (n - 1), by which resampled samples vary less."""
    if count < 2:
        return 0.0
    z, degrees = _Z, count - 1
    quantile = z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
    quantile += (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * degrees**3)
    return 0.5 * math.erfc(quantile * math.sqrt(count / degrees) / math.sqrt(2))
