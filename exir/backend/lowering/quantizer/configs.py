# SPDX-License-Identifier: BSD-3-Clause
"""How tensors are quantized: weights symmetric, activations affine or symmetric, of 4, 8 or 16 bits, static or
dynamic, by calibration or in training."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch.fx import Node
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
from torchao.quantization.pt2e.quantizer import (
    DerivedQuantizationSpec,
    QuantizationConfig,
    QuantizationSpec,
)

from executorch.exir.backend.lowering.quantized_values import LEAST_SCALE
from executorch.exir.backend.lowering.quantizer.captured import function_name

Limits = tuple[int, int]
_INT32 = (-(2**31) + 1, 2**31 - 1)
# Of the smallest that holds the limits.
_DTYPES = (torch.int8, torch.uint8, torch.int16, torch.uint16)


def limits_of(bits: int) -> Limits:
    """All signed values of so many bits."""
    return -(1 << bits - 1), (1 << bits - 1) - 1


def around_zero(bits: int) -> Limits:
    """Without the least of them: as many below as above 0."""
    return 1 - (1 << bits - 1), (1 << bits - 1) - 1


INT8, AROUND_ZERO = limits_of(8), around_zero(8)


def quantization_config(
    activation: Limits | None = INT8,
    weight: Limits | None = AROUND_ZERO,
    *,
    is_per_channel: bool = False,
    is_qat: bool = False,
    is_dynamic: bool = False,
    is_symmetric: bool = False,
    has_int32_bias: bool = False,
    smallest_scale: float | None = None,
) -> QuantizationConfig:
    """`activation`, `weight`: the least and the largest value that is stored; None: floats. `is_per_channel`: one scale
    per output channel of a weight. `is_dynamic`: activations are quantized with what each run finds, results stay
    float. `is_symmetric`: the zero point of activations is 0. `has_int32_bias`: biases are quantized by the scales of
    input and weight; otherwise they stay float, for the backend to quantize. `smallest_scale`:
    unless given, LEAST_SCALE, and for more than 8 bits of activations a scale of the same range: with that of 8 bits
    16 would have no more values between -1 and 1 than 13."""
    activations = None
    if activation is not None:
        smallest = _smallest_scale(activation) if smallest_scale is None else smallest_scale
        activations = QuantizationSpec(
            dtype=_dtype(activation),
            quant_min=activation[0],
            quant_max=activation[1],
            qscheme=torch.per_tensor_symmetric if is_symmetric else torch.per_tensor_affine,
            is_dynamic=is_dynamic,
            observer_or_fake_quant_ctr=_activation_observer(is_qat, is_dynamic, smallest),
        )
    weights = None
    if weight is not None:
        smallest = LEAST_SCALE if smallest_scale is None else smallest_scale
        weights = QuantizationSpec(
            dtype=_dtype(weight),
            quant_min=weight[0],
            quant_max=weight[1],
            qscheme=torch.per_channel_symmetric if is_per_channel else torch.per_tensor_symmetric,
            ch_axis=0,
            observer_or_fake_quant_ctr=_weight_observer(is_qat, is_per_channel, smallest),
        )
    results = None if is_dynamic else activations
    bias = INT32_BIASES[is_per_channel] if has_int32_bias else None
    return QuantizationConfig(activations, results, weights, bias, is_qat)


def _dtype(limits: Limits) -> torch.dtype:
    for dtype in _DTYPES:
        info = torch.iinfo(dtype)
        if info.min <= limits[0] <= limits[1] <= info.max:
            return dtype
    raise ValueError(
        f"expected the least and the largest value of a quantized tensor, within 16 bits, found {limits}; such as "
        f"{INT8}"
    )


def _smallest_scale(limits: Limits) -> float:
    bits = max(8, (limits[1] - limits[0]).bit_length())
    return LEAST_SCALE * 2.0 ** (8 - bits)


def _activation_observer(is_qat: bool, is_dynamic: bool, smallest_scale: float) -> Any:
    if not is_qat:
        observer = PlaceholderObserver if is_dynamic else HistogramObserver
        return observer.with_args(eps=smallest_scale)
    if not is_dynamic:
        return FusedMovingAvgObsFakeQuantize.with_args(eps=smallest_scale)
    latest = MovingAverageMinMaxObserver.with_args(averaging_constant=1)
    return FakeQuantize.with_args(observer=latest, eps=smallest_scale)


def _weight_observer(is_qat: bool, is_per_channel: bool, smallest_scale: float) -> Any:
    if not is_qat:
        observer = PerChannelMinMaxObserver if is_per_channel else MinMaxObserver
        return observer.with_args(eps=smallest_scale)
    moving = (
        MovingAveragePerChannelMinMaxObserver if is_per_channel else MovingAverageMinMaxObserver
    )
    return FusedMovingAvgObsFakeQuantize.with_args(observer=moving, eps=smallest_scale)


def _int32_bias(
    qscheme: torch.qscheme, node: Node, source: Node, weight: Node
) -> DerivedQuantizationSpec:
    """The sums of products have the product of both scales; biases are added to them."""
    is_per_channel = qscheme is torch.per_channel_symmetric
    groups = _groups_that_share_scales(node) if is_per_channel else 1

    def parameters(observers: list[Any]) -> tuple[torch.Tensor, torch.Tensor]:
        (scale, _), (scales, _) = (each.calculate_qparams() for each in observers)
        products = (scale * scales).repeat(groups)
        return products, torch.zeros_like(products, dtype=torch.int32)

    return DerivedQuantizationSpec(
        derived_from=[(source, node), (weight, node)],
        derive_qparams_fn=parameters,
        dtype=torch.int32,
        quant_min=_INT32[0],
        quant_max=_INT32[1],
        qscheme=qscheme,
        ch_axis=0 if is_per_channel else None,
    )


def _groups_that_share_scales(node: Node) -> int:
    """The weight of a transposed convolution has the output channels of one group, and a scale for each of those."""
    name = function_name(node)
    return node.args[6] if name.startswith("conv_transpose") and len(node.args) > 6 else 1


# By whether weights have one scale per channel; equal configurations have equal ones.
INT32_BIASES = {
    False: partial(_int32_bias, torch.per_tensor_symmetric),
    True: partial(_int32_bias, torch.per_channel_symmetric),
}
