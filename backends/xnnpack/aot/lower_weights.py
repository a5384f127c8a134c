# SPDX-License-Identifier: BSD-3-Clause
"""Filters and biases of linear and convolution, float and quantized."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.fx import Node

from executorch.backends.xnnpack.aot.graph_builder import GraphBuilder
from executorch.backends.xnnpack.aot.quantization import parameters_of
from executorch.backends.xnnpack.aot.steps import Mode, Step
from executorch.backends.xnnpack.aot.value_types import Type, by_channel, by_group, by_tensor
from executorch.backends.xnnpack.serialization.graph import INVALID_VALUE_ID
from executorch.exir.backend.lowering.quantized import Quantization, weight_of

_SCALES = "scale_"  # before the hash of their bytes
Arrange = Callable[[Tensor], Tensor]


def filter_and_bias(
    builder: GraphBuilder,
    step: Step,
    arrange: Arrange = lambda data: data,
    channel_axis: int = 0,
) -> tuple[int, int]:
    """`arrange` brings a weight into XNNPACK's order; the output channels are then its dimension `channel_axis`."""
    weight, bias = (*step.head.args, None)[1:3]
    if step.mode is Mode.FLOAT:
        data = arrange(builder.constants[weight].detach())
        return builder.constant(weight, data), _float_bias(builder, bias, data.dtype)
    quantized = weight_of(weight, builder.constants)
    data = arrange(quantized.source)
    kind = _filter_type(builder, step, weight, quantized, data.shape, channel_axis)
    stored = data if quantized.bits == 8 else _packed(data)
    filter_id = builder.constant(weight, stored, kind, data.shape)
    if step.mode is Mode.DYNAMIC:
        return filter_id, _float_bias(builder, bias, torch.float32)
    return filter_id, _static_bias(builder, step, bias, quantized)


def _float_bias(builder: GraphBuilder, bias: Node | None, dtype: torch.dtype) -> int:
    if bias is None:
        return INVALID_VALUE_ID
    return builder.constant(bias, builder.constants[bias].detach().to(dtype))


def _filter_type(
    builder: GraphBuilder,
    step: Step,
    node: Node,
    weight: Quantization,
    shape: torch.Size,
    channel_axis: int,
) -> Type:
    if weight.group_size:
        scales = builder.data(node, weight.scale.to(torch.bfloat16), _SCALES)
        return by_group(weight.group_size, scales, weight.scale.numel())
    if weight.axis is None and step.mode is Mode.STATIC:
        return by_tensor("xnn_datatype_qint8", weight.scale.item(), 0)
    # What is quantized while running is multiplied by weights with one scale per channel only.
    scales = weight.scale.expand(shape[channel_axis]) if weight.axis is None else weight.scale
    name = "xnn_datatype_qcint8" if weight.bits == 8 else "xnn_datatype_qcint4"
    return by_channel(name, channel_axis, builder.data(node, scales, _SCALES), scales.numel())


def _static_bias(builder: GraphBuilder, step: Step, bias: Node | None, weight: Quantization) -> int:
    """Quantized by the scales of the inputs times those of the weights."""
    if bias is None:
        return INVALID_VALUE_ID
    scales = weight.scale * parameters_of(step.head.args[0]).scale
    limits = torch.iinfo(torch.int32)
    steps = (builder.constants[bias].detach().double() / scales.double()).round()
    data = steps.clamp(limits.min, limits.max).to(torch.int32)
    if weight.axis is None:
        return builder.constant(bias, data, by_tensor("xnn_datatype_qint32", scales.item(), 0))
    place = builder.data(bias, scales, _SCALES)
    return builder.constant(
        bias, data, by_channel("xnn_datatype_qcint32", 0, place, scales.numel())
    )


def _packed(data: Tensor) -> Tensor:
    """Two values of 4 bits to a byte, each plus 8, the even column in the low half."""
    shifted = data + 8
    if shifted.shape[1] % 2:
        shifted = torch.nn.functional.pad(shifted, (0, 1))
    pairs = shifted.contiguous().view(torch.int16)  # little endian: the even column is the low byte
    return (pairs | pairs >> 4).to(torch.uint8)
