# SPDX-License-Identifier: BSD-3-Clause
"""In which precisions XnnpackPartitioner takes operators."""

from __future__ import annotations

from enum import Enum

from executorch.backends.xnnpack.aot.steps import Mode


class ConfigPrecisionType(Enum):
    """FP32: on floats. STATIC_QUANT: on 8-bit values. DYNAMIC_QUANT: inputs are quantized while running."""

    FP32 = 1
    STATIC_QUANT = 2
    DYNAMIC_QUANT = 3

    @property
    def mode(self) -> Mode:
        return Mode(self.value - 1)
