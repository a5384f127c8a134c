# SPDX-License-Identifier: BSD-3-Clause
"""What pages of measurements have in common: the mean of ratios, and the processor's name."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable
from pathlib import Path


def geometric_mean(ratios: Iterable[float]) -> float:
    """Not a number where there is none."""
    logarithms = [math.log(ratio) for ratio in ratios]
    return math.exp(sum(logarithms) / len(logarithms)) if logarithms else math.nan


def processor() -> str:
    """The name of this machine's processor."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
