# SPDX-License-Identifier: BSD-3-Clause
"""How tensors are quantized for the NPU, by the dtypes of activations and weights, after training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.fx import Node
from torchao.quantization.pt2e.observer import (
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    PerChannelMinMaxObserver,
)
from torchao.quantization.pt2e.quantizer import DerivedQuantizationSpec, QuantizationSpec

from executorch.backends.qualcomm.aot.blocks import channels_and_multiples
from executorch.backends.qualcomm.quantizer.observers.per_block_param_observer import (
    PerBlockParamObserver,
)
from executorch.exir.backend.lowering.quantizer.configs import INT32_BIASES

Limits = tuple[int, int]
# The least scales, of activations of 8 and 16 bits.
DEFAULT_EPS_8BIT = 0.0001 / 255
DEFAULT_EPS_16BIT = 0.0001 / 65535
_UINT8, _UINT16 = (0, 255), (0, 65535)
_INT32 = torch.iinfo(torch.int32)
# Of a block all of them: the search for its scale weighs the 16th value.
_OF_BLOCKS = (-8, 7)
# Limits of weights by their dtype: around 0, but for two bits.
WEIGHTS: dict[torch.dtype, Limits] = {
    torch.int2: (-2, 1),
    torch.int4: (-7, 7),
    torch.int8: (-127, 127),
    torch.int16: (-32767, 32767),
}


@dataclass(frozen=True)
class QuantizationConfig:
    """`block_size`: of weights with a scale for each block. `is_qat`: in training."""

    input_activation: QuantizationSpec | None
    output_activation: QuantizationSpec | None
    weight: QuantizationSpec | None
    bias: QuantizationSpec | Callable[..., Any] | None
    block_size: tuple[int, ...] | None = None
    per_channel_embedding: bool = False
    is_qat: bool = False


def _activation(
    limits: Limits, act_symmetric: bool, act_observer: Any, eps: float
) -> QuantizationSpec:
    """Of 16 bits as int32, which torch has all operators of."""
    scheme = torch.per_tensor_symmetric if act_symmetric else torch.per_tensor_affine
    return QuantizationSpec(
        dtype=torch.uint8 if limits == _UINT8 else torch.int32,
        quant_min=limits[0],
        quant_max=limits[1],
        qscheme=scheme,
        observer_or_fake_quant_ctr=act_observer.with_args(eps=eps),
    )


def _weight(dtype: torch.dtype, eps: float) -> QuantizationSpec:
    limits = WEIGHTS[dtype]
    return QuantizationSpec(
        dtype=torch.int16 if dtype == torch.int16 else torch.int8,
        quant_min=limits[0],
        quant_max=limits[1],
        qscheme=torch.per_tensor_symmetric,
        ch_axis=0,
        observer_or_fake_quant_ctr=MinMaxObserver.with_args(eps=eps),
    )


def _bias(eps: float) -> QuantizationSpec:
    return QuantizationSpec(
        dtype=torch.int32,
        quant_min=_INT32.min,
        quant_max=_INT32.max,
        qscheme=torch.per_tensor_symmetric,
        observer_or_fake_quant_ctr=MinMaxObserver.with_args(eps=eps),
    )


def _config(
    limits: Limits,
    weight: torch.dtype,
    act_symmetric: bool,
    act_observer: Any,
    eps: float | None,
) -> QuantizationConfig:
    least = (DEFAULT_EPS_8BIT if limits == _UINT8 else DEFAULT_EPS_16BIT) if eps is None else eps
    activation = _activation(limits, act_symmetric, act_observer, least)
    return QuantizationConfig(activation, activation, _weight(weight, least), _bias(least))


def get_8a8w_qnn_ptq_config(
    act_symmetric: bool = False,
    act_observer: Any = MovingAverageMinMaxObserver,
    eps: float | None = None,
) -> QuantizationConfig:
    return _config(_UINT8, torch.int8, act_symmetric, act_observer, eps)


def get_8a4w_qnn_ptq_config(
    act_symmetric: bool = False,
    act_observer: Any = MovingAverageMinMaxObserver,
    eps: float | None = None,
) -> QuantizationConfig:
    return _config(_UINT8, torch.int4, act_symmetric, act_observer, eps)


def get_16a4w_qnn_ptq_config(
    act_symmetric: bool = False,
    act_observer: Any = MovingAverageMinMaxObserver,
    eps: float | None = None,
) -> QuantizationConfig:
    return _config(_UINT16, torch.int4, act_symmetric, act_observer, eps)


def get_16a8w_qnn_ptq_config(
    act_symmetric: bool = False,
    act_observer: Any = MovingAverageMinMaxObserver,
    eps: float | None = None,
) -> QuantizationConfig:
    """Weights are uint8 around 128."""
    made = _config(_UINT16, torch.int8, act_symmetric, act_observer, eps)
    weight = replace(made.weight, dtype=torch.uint8, quant_min=None, quant_max=None)
    return replace(made, weight=weight)


def get_16a16w_qnn_ptq_config(
    act_symmetric: bool = False,
    act_observer: Any = MovingAverageMinMaxObserver,
    eps: float | None = None,
) -> QuantizationConfig:
    return _config(_UINT16, torch.int16, act_symmetric, act_observer, eps)


get_default_16bit_qnn_ptq_config = get_16a16w_qnn_ptq_config


def get_ptq_per_channel_quant_config(
    act_dtype: torch.dtype = torch.uint8,
    weight_dtype: torch.dtype = torch.int8,
    act_observer: Any = MovingAverageMinMaxObserver,
    act_symmetric: bool = False,
    ch_axis: int = 0,
    eps: float | None = None,
) -> QuantizationConfig:
    """A scale for each output channel; biases have the product of both scales."""
    if act_dtype not in (torch.uint8, torch.uint16) or weight_dtype not in WEIGHTS:
        raise ValueError(
            f"expected activations of uint8 or uint16, and weights of {', '.join(map(str, WEIGHTS))}, found "
            f"{act_dtype} and {weight_dtype}"
        )
    limits = _UINT8 if act_dtype == torch.uint8 else _UINT16
    least = DEFAULT_EPS_16BIT if eps is None else eps
    made = _config(limits, weight_dtype, act_symmetric, act_observer, least)
    weight = replace(
        made.weight,
        qscheme=torch.per_channel_symmetric,
        ch_axis=ch_axis,
        observer_or_fake_quant_ctr=PerChannelMinMaxObserver.with_args(eps=least),
    )
    return replace(made, weight=weight, bias=INT32_BIASES[True])


def get_ptq_per_block_quant_config(
    act_dtype: torch.dtype = torch.uint16,
    weight_dtype: torch.dtype = torch.int4,
    act_observer: Any = MovingAverageMinMaxObserver,
    act_symmetric: bool = False,
    ch_axis: int = 0,
    eps: float | None = None,
    block_size: tuple[int, ...] = (1, 32),
) -> QuantizationConfig:
    """Of 4 bits, a scale for each block of a weight, which is of one output channel: LPBQ."""
    if weight_dtype != torch.int4 or ch_axis != 0 or block_size[0] != 1:
        raise ValueError(
            f"expected int4, ch_axis 0 and a block of one channel, found {weight_dtype}, {ch_axis} and {block_size}"
        )
    made = get_ptq_per_channel_quant_config(
        act_dtype, weight_dtype, act_observer, act_symmetric, ch_axis, eps
    )
    least = DEFAULT_EPS_16BIT if eps is None else eps
    weight = replace(
        made.weight,
        quant_min=_OF_BLOCKS[0],
        quant_max=_OF_BLOCKS[1],
        observer_or_fake_quant_ctr=PerBlockParamObserver.with_args(
            block_size=block_size, eps=least
        ),
    )
    return replace(made, weight=weight, bias=_bias_of_channels, block_size=block_size)


def _bias_of_channels(node: Node, source: Node, weight: Node) -> DerivedQuantizationSpec:
    """By the product of the input's scale and the channel's."""

    def parameters(observers: list[Any]) -> tuple[torch.Tensor, torch.Tensor]:
        (scale, _), (scales, _) = (each.calculate_qparams() for each in observers)
        channels, _ = channels_and_multiples(scales)
        products = (scale * channels).float()
        return products, torch.zeros_like(products, dtype=torch.int32)

    return DerivedQuantizationSpec(
        derived_from=[(source, node), (weight, node)],
        derive_qparams_fn=parameters,
        dtype=torch.int32,
        quant_min=_INT32.min,
        quant_max=_INT32.max,
        qscheme=torch.per_channel_symmetric,
        ch_axis=0,
    )
