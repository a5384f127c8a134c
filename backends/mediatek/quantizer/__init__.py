# SPDX-License-Identifier: BSD-3-Clause
"""Which values are quantized, and in how many bits."""

from __future__ import annotations

from executorch.backends.mediatek.quantizer.qconfig import Precision
from executorch.backends.mediatek.quantizer.quantizer import NeuropilotQuantizer

__all__ = ["NeuropilotQuantizer", "Precision"]
