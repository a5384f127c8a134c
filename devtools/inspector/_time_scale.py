# SPDX-License-Identifier: BSD-3-Clause
"""Units of time."""

from __future__ import annotations

from enum import Enum


class TimeScale(Enum):
    NS = "ns"
    US = "us"
    MS = "ms"
    S = "s"
    CYCLES = "cycles"


TIME_SCALE_DICT = {
    TimeScale.NS: 1_000_000_000,
    TimeScale.US: 1_000_000,
    TimeScale.MS: 1000,
    TimeScale.S: 1,
    TimeScale.CYCLES: 1,
}


def calculate_time_scale_factor(
    source_time_scale: TimeScale, target_time_scale: TimeScale
) -> float:
    """How many units of the source make one of the target."""
    return TIME_SCALE_DICT[source_time_scale] / TIME_SCALE_DICT[target_time_scale]
