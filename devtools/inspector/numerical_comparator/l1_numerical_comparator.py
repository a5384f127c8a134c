# SPDX-License-Identifier: BSD-3-Clause
"""L1Comparator."""

from __future__ import annotations

from typing import Any

import torch

from executorch.devtools.inspector.numerical_comparator.numerical_comparator_base import (
    NumericalComparatorBase,
    same_sized,
)


class L1Comparator(NumericalComparatorBase):
    """Sum of absolute differences."""

    def element_compare(self, a: Any, b: Any) -> float:
        a, b = same_sized(a, b)
        return float(torch.sum(torch.abs(a - b)))
