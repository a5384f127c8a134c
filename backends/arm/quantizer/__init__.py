# SPDX-License-Identifier: BSD-3-Clause
"""Quantizers and their configurations."""

from executorch.backends.arm.quantizer.arm_quantizer import (
    EthosUQuantizer,
    QuantizationConfig,
    TOSAQuantizer,
    VgfQuantizer,
    get_symmetric_a8w4_quantization_config,
    get_symmetric_a16w8_quantization_config,
    get_symmetric_quantization_config,
    get_uint8_io_quantization_config,
)

__all__ = [
    "EthosUQuantizer",
    "QuantizationConfig",
    "TOSAQuantizer",
    "VgfQuantizer",
    "get_symmetric_a8w4_quantization_config",
    "get_symmetric_a16w8_quantization_config",
    "get_symmetric_quantization_config",
    "get_uint8_io_quantization_config",
]
