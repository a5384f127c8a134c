# SPDX-License-Identifier: BSD-3-Clause
"""The quantizer, and how it quantizes."""

from executorch.backends.cortex_m.quantizer.quantization_configs import (
    CMSIS_SOFTMAX_SCALE,
    CMSIS_SOFTMAX_ZERO_POINT,
    INT8_ACTIVATION_PER_TENSOR_QSPEC,
    INT8_PER_CHANNEL_CONFIG,
    INT8_PER_TENSOR_CONFIG,
    INT8_WEIGHT_PER_CHANNEL_QSPEC,
    INT8_WEIGHT_PER_TENSOR_QSPEC,
)
from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer

__all__ = [
    "CMSIS_SOFTMAX_SCALE",
    "CMSIS_SOFTMAX_ZERO_POINT",
    "INT8_ACTIVATION_PER_TENSOR_QSPEC",
    "INT8_PER_CHANNEL_CONFIG",
    "INT8_PER_TENSOR_CONFIG",
    "INT8_WEIGHT_PER_CHANNEL_QSPEC",
    "INT8_WEIGHT_PER_TENSOR_QSPEC",
    "CortexMQuantizer",
]
