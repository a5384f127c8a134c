# SPDX-License-Identifier: BSD-3-Clause
"""How activations and weights are quantized: int8, biases stay float."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import torch
from torchao.quantization.pt2e.fake_quantize import FakeQuantize
from torchao.quantization.pt2e.observer import MinMaxObserver, PerChannelMinMaxObserver
from torchao.quantization.pt2e.quantizer import QuantizationSpec

from executorch.exir.backend.lowering.quantizer.configs import INT8

_EPS = 2.0**-12


class Precision(IntEnum):
    A8W8 = 3


@dataclass(frozen=True)
class QuantizationConfig:
    input_activation: QuantizationSpec | None
    output_activation: QuantizationSpec | None
    weight: QuantizationSpec | None
    bias: QuantizationSpec | None = None


def precision_of(precision: Precision | str) -> Precision:
    """ValueError for what is none, and names none."""
    known = {each.name: each for each in Precision}
    found = known.get(precision) if isinstance(precision, str) else precision
    if found not in known.values():
        raise ValueError(f"expected a precision, one of {', '.join(known)}, found {precision!r}")
    return Precision(found)


def _spec(
    observer: Any, qscheme: torch.qscheme, is_qat: bool, axis: int | None = None
) -> QuantizationSpec:
    made = observer.with_args(eps=_EPS)
    if is_qat:
        made = FakeQuantize.with_args(observer=observer, eps=_EPS)
    return QuantizationSpec(
        dtype=torch.int8,
        observer_or_fake_quant_ctr=made,
        quant_min=INT8[0],
        quant_max=INT8[1],
        qscheme=qscheme,
        ch_axis=axis,
    )


def get_a8w8_enn_quant_config(
    is_per_channel: bool = False, is_qat: bool = False
) -> QuantizationConfig:
    activation = _spec(MinMaxObserver, torch.per_tensor_affine, is_qat)
    weight = _spec(MinMaxObserver, torch.per_tensor_affine, is_qat)
    if is_per_channel:
        weight = _spec(PerChannelMinMaxObserver, torch.per_channel_symmetric, is_qat, 0)
    return QuantizationConfig(activation, activation, weight)


def get_quant_config(
    precision: Precision | str, is_per_channel: bool = False, is_qat: bool = False
) -> QuantizationConfig:
    precision_of(precision)
    return get_a8w8_enn_quant_config(is_per_channel, is_qat)
