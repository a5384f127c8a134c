# SPDX-License-Identifier: BSD-3-Clause
"""Which values are quantized."""

from __future__ import annotations

from executorch.backends.samsung.quantizer.qconfig import Precision
from executorch.backends.samsung.quantizer.quantizer import EnnQuantizer

__all__ = ["EnnQuantizer", "Precision"]
