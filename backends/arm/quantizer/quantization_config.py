# SPDX-License-Identifier: BSD-3-Clause
"""Configurations of the quantizers; equal arguments give the same one."""

from __future__ import annotations

import functools

from torchao.quantization.pt2e.quantizer import QuantizationConfig

from executorch.exir.backend.lowering.quantizer.configs import (
    Limits,
    around_zero,
    quantization_config,
)

__all__ = [
    "QuantizationConfig",
    "get_symmetric_a16w8_quantization_config",
    "get_symmetric_a8w4_quantization_config",
    "get_symmetric_quantization_config",
    "get_uint8_io_quantization_config",
]


@functools.lru_cache
def get_symmetric_quantization_config(
    is_per_channel: bool = True,
    is_qat: bool = False,
    is_dynamic: bool = False,
    act_qmin: int = -128,
    act_qmax: int = 127,
    weight_qmin: int = -127,
    weight_qmax: int = 127,
    eps: float = 2**-16,
) -> QuantizationConfig:
    """int8: activations with a zero point, weights around zero."""
    return _made(
        (act_qmin, act_qmax), (weight_qmin, weight_qmax), is_per_channel, is_qat, is_dynamic, eps
    )


@functools.lru_cache
def get_symmetric_a16w8_quantization_config(
    is_per_channel: bool = True,
    is_qat: bool = False,
    is_dynamic: bool = False,
    weight_qmin: int = -127,
    weight_qmax: int = 127,
    epsilon: float = 2**-12,
) -> QuantizationConfig:
    """Activations of 16 bits around zero."""
    return _made(
        around_zero(16),
        (weight_qmin, weight_qmax),
        is_per_channel,
        is_qat,
        is_dynamic,
        epsilon,
        is_symmetric=True,
    )


@functools.lru_cache
def get_symmetric_a8w4_quantization_config(
    is_per_channel: bool = True, is_qat: bool = True, is_dynamic: bool = False
) -> QuantizationConfig:
    """Weights from -7 to 7."""
    return _made((-128, 127), (-7, 7), is_per_channel, is_qat, is_dynamic, 2**-16)


@functools.lru_cache
def get_uint8_io_quantization_config(
    is_qat: bool = False, is_dynamic: bool = False, eps: float = 2**-16
) -> QuantizationConfig:
    """For set_io alone."""
    return quantization_config(
        (0, 255), None, is_qat=is_qat, is_dynamic=is_dynamic, smallest_scale=eps
    )


def _made(
    activation: Limits,
    weight: Limits,
    is_per_channel: bool,
    is_qat: bool,
    is_dynamic: bool,
    eps: float,
    is_symmetric: bool = False,
) -> QuantizationConfig:
    return quantization_config(
        activation,
        weight,
        is_per_channel=is_per_channel,
        is_qat=is_qat,
        is_dynamic=is_dynamic,
        is_symmetric=is_symmetric,
        has_int32_bias=not is_dynamic,
        smallest_scale=eps,
    )
