# SPDX-License-Identifier: BSD-3-Clause
"""MSEComparator."""

from __future__ import annotations

from typing import Any

import torch

from executorch.devtools.inspector._values import convert_to_float_tensor
from executorch.devtools.inspector.numerical_comparator.numerical_comparator_base import (
    NumericalComparatorBase,
)


class MSEComparator(NumericalComparatorBase):
    """Mean of squared differences."""

    def element_compare(self, a: Any, b: Any) -> float:
        a, b = convert_to_float_tensor(a), convert_to_float_tensor(b)
        return float(torch.mean((a - b) ** 2))
