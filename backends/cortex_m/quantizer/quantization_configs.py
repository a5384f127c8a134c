# SPDX-License-Identifier: BSD-3-Clause
"""How tensors are quantized: int8, activations affine, weights symmetric, biases by the scales of both."""

from __future__ import annotations

from executorch.exir.backend.lowering.quantizer.configs import INT8, quantization_config

CMSIS_SOFTMAX_SCALE = 1 / 256
CMSIS_SOFTMAX_ZERO_POINT = -128

INT8_PER_TENSOR_CONFIG = quantization_config(weight=INT8, has_int32_bias=True)
INT8_PER_CHANNEL_CONFIG = quantization_config(weight=INT8, is_per_channel=True, has_int32_bias=True)
INT8_ACTIVATION_PER_TENSOR_QSPEC = INT8_PER_TENSOR_CONFIG.input_activation
INT8_WEIGHT_PER_TENSOR_QSPEC = INT8_PER_TENSOR_CONFIG.weight
INT8_WEIGHT_PER_CHANNEL_QSPEC = INT8_PER_CHANNEL_CONFIG.weight
