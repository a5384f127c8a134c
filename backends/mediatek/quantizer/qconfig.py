# SPDX-License-Identifier: BSD-3-Clause
"""How activations and weights are quantized, by precision."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from enum import IntEnum
from typing import Any

import torch
from torchao.quantization.pt2e.fake_quantize import FakeQuantize
from torchao.quantization.pt2e.observer import MinMaxObserver, PerChannelMinMaxObserver
from torchao.quantization.pt2e.quantizer import QuantizationSpec

from executorch.exir.backend.lowering.quantizer.configs import limits_of

_EPS = 1e-6


class Precision(IntEnum):
    """Bits of activations and weights."""

    A16W16 = 0
    A16W8 = 1
    A16W4 = 2
    A8W8 = 3
    A8W4 = 4


class QuantizationConfig:
    def __init__(self, activation_spec: QuantizationSpec, weight_spec: QuantizationSpec) -> None:
        self._activation_spec, self._weight_spec = activation_spec, weight_spec

    @property
    def activation(self) -> QuantizationSpec:
        return copy(self._activation_spec)

    @property
    def weight(self) -> QuantizationSpec:
        return copy(self._weight_spec)


def _spec(bits: int, is_symmetric: bool, is_per_channel: bool, is_qat: bool) -> QuantizationSpec:
    """Values of 4 bits are int8."""
    observer = PerChannelMinMaxObserver if is_per_channel else MinMaxObserver
    limits = limits_of(bits)
    schemes = {
        (False, False): torch.per_tensor_affine,
        (False, True): torch.per_tensor_symmetric,
        (True, False): torch.per_channel_affine,
        (True, True): torch.per_channel_symmetric,
    }
    made: Any = observer.with_args(eps=_EPS)
    if is_qat:
        made = FakeQuantize.with_args(observer=observer, eps=_EPS)
    return QuantizationSpec(
        dtype=torch.int16 if bits == 16 else torch.int8,
        observer_or_fake_quant_ctr=made,
        quant_min=limits[0],
        quant_max=limits[1],
        qscheme=schemes[is_per_channel, is_symmetric],
        ch_axis=0 if is_per_channel else None,
    )


def _config_of(
    precision: Precision, is_per_channel: bool = False, is_qat: bool = False
) -> QuantizationConfig:
    """Of 16 bits activations are symmetric, and so are weights beside them but for those of 4 bits."""
    activation, weight = map(int, precision.name.removeprefix("A").split("W"))
    is_symmetric = activation == 16
    return QuantizationConfig(
        _spec(activation, is_symmetric, False, is_qat),
        _spec(weight, is_symmetric and weight != 4, is_per_channel, is_qat),
    )


def get_quant_config(
    precision: Precision, is_per_channel: bool = False, is_qat: bool = False
) -> QuantizationConfig:
    """RuntimeError for what is no Precision."""
    if precision not in list(Precision):
        raise RuntimeError("Unrecognized precision setting.")
    return _config_of(Precision(precision), is_per_channel, is_qat)


def _named(precision: Precision) -> Callable[..., QuantizationConfig]:
    def get(is_per_channel: bool = False, is_qat: bool = False) -> QuantizationConfig:
        return _config_of(precision, is_per_channel, is_qat)

    return get


get_a16w16_quant_config = _named(Precision.A16W16)
get_a16w8_quant_config = _named(Precision.A16W8)
get_a16w4_quant_config = _named(Precision.A16W4)
get_a8w8_quant_config = _named(Precision.A8W8)
get_a8w4_quant_config = _named(Precision.A8W4)
