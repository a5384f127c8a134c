# SPDX-License-Identifier: BSD-3-Clause
"""How tensors are quantized: int8, weights symmetric, activations affine, static or dynamic."""

from __future__ import annotations

from typing import Any

import torch
from torchao.quantization.pt2e.fake_quantize import (
    FakeQuantize,
    FusedMovingAvgObsFakeQuantize,
)
from torchao.quantization.pt2e.observer import (
    HistogramObserver,
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    PerChannelMinMaxObserver,
    PlaceholderObserver,
)
from torchao.quantization.pt2e.quantizer import QuantizationConfig, QuantizationSpec

_SMALLEST_SCALE = 2**-12


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
    activation = QuantizationSpec(
        dtype=torch.int8,
        quant_min=act_qmin,
        quant_max=act_qmax,
        qscheme=torch.per_tensor_affine,
        is_dynamic=is_dynamic,
        observer_or_fake_quant_ctr=_activation_observer(is_qat, is_dynamic),
    )
    weight = QuantizationSpec(
        dtype=torch.int8,
        quant_min=weight_qmin,
        quant_max=weight_qmax,
        qscheme=torch.per_channel_symmetric if is_per_channel else torch.per_tensor_symmetric,
        ch_axis=0,
        observer_or_fake_quant_ctr=_weight_observer(is_qat, is_per_channel),
    )
    return QuantizationConfig(activation, None if is_dynamic else activation, weight, None, is_qat)


def _activation_observer(is_qat: bool, is_dynamic: bool) -> Any:
    if not is_qat:
        observer = PlaceholderObserver if is_dynamic else HistogramObserver
        return observer.with_args(eps=_SMALLEST_SCALE)
    if not is_dynamic:
        return FusedMovingAvgObsFakeQuantize.with_args(eps=_SMALLEST_SCALE)
    latest = MovingAverageMinMaxObserver.with_args(averaging_constant=1)
    return FakeQuantize.with_args(observer=latest, eps=_SMALLEST_SCALE)


def _weight_observer(is_qat: bool, is_per_channel: bool) -> Any:
    if not is_qat:
        observer = PerChannelMinMaxObserver if is_per_channel else MinMaxObserver
        return observer.with_args(eps=_SMALLEST_SCALE)
    moving = (
        MovingAveragePerChannelMinMaxObserver if is_per_channel else MovingAverageMinMaxObserver
    )
    return FusedMovingAvgObsFakeQuantize.with_args(observer=moving, eps=_SMALLEST_SCALE)
