# SPDX-License-Identifier: BSD-3-Clause
"""How tensors are quantized for XNNPACK: int8, weights symmetric, activations affine, static or dynamic."""

from __future__ import annotations

from torchao.quantization.pt2e.quantizer import QuantizationConfig

from executorch.exir.backend.lowering.quantizer.configs import quantization_config


def get_symmetric_quantization_config(
    is_per_channel: bool = False,
    is_qat: bool = False,
    is_dynamic: bool = False,
    act_qmin: int = -128,
    act_qmax: int = 127,
    weight_qmin: int = -127,
    weight_qmax: int = 127,
) -> QuantizationConfig:
    """`is_per_channel`: one scale per output channel of a weight. `is_dynamic`: activations are quantized with what
    each run finds, results stay float. Biases stay float; lowering quantizes those of static operators."""
    return quantization_config(
        (act_qmin, act_qmax),
        (weight_qmin, weight_qmax),
        is_per_channel=is_per_channel,
        is_qat=is_qat,
        is_dynamic=is_dynamic,
    )
