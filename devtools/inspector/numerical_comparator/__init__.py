# SPDX-License-Identifier: BSD-3-Clause
"""How far two values are apart: L1, MSE, SNR, or a class of the user's."""

from executorch.devtools.inspector.numerical_comparator.l1_numerical_comparator import L1Comparator
from executorch.devtools.inspector.numerical_comparator.mse_numerical_comparator import (
    MSEComparator,
)
from executorch.devtools.inspector.numerical_comparator.numerical_comparator_base import (
    IntermediateOutputMapping,
    NumericalComparatorBase,
)
from executorch.devtools.inspector.numerical_comparator.snr_numerical_comparator import (
    SNRComparator,
)

__all__ = [
    "IntermediateOutputMapping",
    "L1Comparator",
    "MSEComparator",
    "NumericalComparatorBase",
    "SNRComparator",
]
