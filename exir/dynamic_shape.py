# SPDX-License-Identifier: BSD-3-Clause
"""How memory planning sizes tensors whose sizes are symbolic."""

from enum import IntEnum


class DynamicMemoryPlanningMode(IntEnum):
    UPPER_BOUND = 0  # arena space for the largest size
    SYMBOLIC = 1  # for propagate_dynamic_shape: sizes stay symbolic; programs are planned by bounds all the same
