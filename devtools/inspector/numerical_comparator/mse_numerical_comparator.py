# SPDX-License-Identifier: BSD-3-Clause
"""MSEComparator."""

from __future__ import annotations

from typing import Any

import torch

from executorch.devtools.inspector.numerical_comparator.numerical_comparator_base import (
    NumericalComparatorBase,
    same_sized,
)


class MSEComparator(NumericalComparatorBase):
    """Mean of squared differences."""

    def element_compare(self, a: Any, b: Any) -> float:
        a, b = same_sized(a, b)
        return float(torch.mean((a - b) ** 2))
