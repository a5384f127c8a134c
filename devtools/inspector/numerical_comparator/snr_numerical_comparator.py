# SPDX-License-Identifier: BSD-3-Clause
"""SNRComparator."""

from __future__ import annotations

from typing import Any

import torch

from executorch.devtools.inspector.numerical_comparator.numerical_comparator_base import (
    NumericalComparatorBase,
    same_sized,
)


class SNRComparator(NumericalComparatorBase):
    """Signal to noise in dB: inf without noise."""

    def element_compare(self, a: Any, b: Any) -> float:
        a, b = same_sized(a, b)
        return float(10 * torch.log10(torch.mean(a**2) / torch.mean((a - b) ** 2)))
