# SPDX-License-Identifier: BSD-3-Clause
"""Convolutions with their batch norms: three kinds of node, by groups and direction."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from executorch.backends.xnnpack.aot.graph_builder import NHWC, GraphBuilder
from executorch.backends.xnnpack.aot.lower import paddings
from executorch.backends.xnnpack.aot.lower_weights import filter_and_bias
from executorch.backends.xnnpack.aot.quantization import dynamic_source
from executorch.backends.xnnpack.aot.steps import Mode, Step


def convolution(builder: GraphBuilder, step: Step) -> None:
    source, weight, bias, stride, padding, dilation, transposed, extra, groups = step.head.args
    channels_out, channels_in, height, width = weight.meta["val"].shape
    if transposed:
        channels_out, channels_in = channels_in * groups, channels_out // groups
    depthwise = not transposed and channels_in == 1 and groups > 1
    perm = (1, 2, 3, 0) if depthwise else (0, 2, 3, 1)

    def arrange(data: Tensor) -> Tensor:
        return _out_channels_first(data, groups, transposed).permute(perm)

    if step.mode is Mode.DYNAMIC:
        value = builder.read_rows_quantized(dynamic_source(source), 3, NHWC)
    else:
        value = builder.read(source, NHWC)
    if step.batch_norm is None:
        filter_id, bias_id = filter_and_bias(builder, step, arrange, 3 if depthwise else 0)
    else:
        data = _out_channels_first(builder.constants[weight].detach(), groups, transposed)
        offset = None if bias is None else builder.constants[bias].detach()
        data, offset = _folded(builder, step, data, offset)
        filter_id = builder.constant(weight, data.permute(perm))
        bias_id = builder.constant(weight if bias is None else bias, offset)
    fields: dict[str, Any] = {
        **paddings(_pair(padding)),
        "kernel_height": height,
        "kernel_width": width,
        **_both("subsampling", stride),
        **_both("dilation", dilation),
        "group_input_channels": channels_in,
        "group_output_channels": channels_out // groups,
        "groups": groups,
        **_both("adjustment", extra if transposed else [0, 0]),
    }
    kind = "XNNConv2d"
    if transposed or depthwise:
        kind = "XNNConvTranspose2d" if transposed else "XNNDepthwiseConv2d"
    fields |= {"input1_id": value, "filter_id": filter_id, "bias_id": bias_id}
    out = builder.write(step.result, NHWC)
    builder.emit(step.head, kind, step.limits, **fields, output_id=out)


def _pair(values: list[int]) -> list[int]:
    return list(values) if len(values) == 2 else [values[0]] * 2


def _both(name: str, values: list[int]) -> dict[str, int]:
    height, width = _pair(values)
    return {f"{name}_height": height, f"{name}_width": width}


def _out_channels_first(weight: Tensor, groups: int, transposed: bool) -> Tensor:
    """[out, in / groups, height, width]; a transposed convolution has [in, out / groups, ...]."""
    if not transposed:
        return weight
    grouped = weight.unflatten(0, (groups, -1)).transpose(1, 2)
    return grouped.flatten(0, 1)


def _folded(
    builder: GraphBuilder, step: Step, weight: Tensor, bias: Tensor | None
) -> tuple[Tensor, Tensor]:
    """y = (conv(x) - mean) / sqrt(var + eps) * gamma + beta is a convolution with other weights."""
    _, gamma, beta, mean, variance, _, epsilon = step.batch_norm.args
    scale = torch.rsqrt(builder.constants[variance].detach().double() + epsilon)
    if gamma is not None:
        scale = scale * builder.constants[gamma].detach()
    start = -builder.constants[mean].detach().double()
    if bias is not None:
        start = start + bias
    shift = start * scale
    if beta is not None:
        shift = shift + builder.constants[beta].detach()
    return (weight * scale.reshape(-1, 1, 1, 1)).float(), shift.float()
