# SPDX-License-Identifier: BSD-3-Clause
"""What pages of measurements have in common: the mean of ratios, and the processor's name."""

from __future__ import annotations

import math
from collections.abc import Iterable

from executorch.devtools.costs.machine import processor

__all__ = ["geometric_mean", "processor"]


def geometric_mean(ratios: Iterable[float]) -> float:
    """Not a number where there is none."""
    logarithms = [math.log(ratio) for ratio in ratios]
    return math.exp(sum(logarithms) / len(logarithms)) if logarithms else math.nan
