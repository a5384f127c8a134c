# SPDX-License-Identifier: BSD-3-Clause
"""Convolutions with their batch norms: three kinds of node, by groups and direction.

XNNPACK takes filters and biases in float where the images are half precision, too."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor
from torch.fx import Node

from executorch.backends.xnnpack.aot.graph_builder import NHWC, GraphBuilder, shape_of
from executorch.backends.xnnpack.aot.lower import emit_reshape, open_sizes, paddings
from executorch.backends.xnnpack.aot.lower_norm import scale_and_shift
from executorch.backends.xnnpack.aot.lower_transposed import by_phases, phases_of
from executorch.backends.xnnpack.aot.lower_weights import filter_and_bias
from executorch.backends.xnnpack.aot.padding import padding_of
from executorch.backends.xnnpack.aot.quantization import dynamic_source
from executorch.backends.xnnpack.aot.steps import Mode, Step


def convolution(builder: GraphBuilder, step: Step) -> None:
    phases = phases_of(step)
    if phases is not None:
        by_phases(builder, step, phases, *_filter_and_offset(builder, step))
        return
    source, weight, bias, stride, padding, dilation, transposed, extra, groups = step.head.args
    channels_out, channels_in, *kernel = weight.meta["val"].shape
    height, width = _for_both(kernel, kernel, 1)
    if transposed:
        channels_out, channels_in = channels_in * groups, channels_out // groups
    depthwise = not transposed and channels_in == 1 and groups > 1
    perm = (1, 2, 3, 0) if depthwise else (0, 2, 3, 1)

    def ordered(data: Tensor) -> Tensor:
        return (data if data.dim() == 4 else data.unsqueeze(2)).permute(perm)

    def arrange(data: Tensor) -> Tensor:
        data = data.float() if data.dtype == torch.float16 else data
        return ordered(_out_channels_first(data, groups, transposed))

    if step.mode is Mode.DYNAMIC:
        value = builder.read_rows_quantized(dynamic_source(source), 3, NHWC)
    elif len(kernel) == 1:
        value = _as_image(builder, step.head, source)
    else:
        value = builder.read(source, NHWC)
    if step.batch_norm is None:
        filter_id, bias_id = filter_and_bias(builder, step, arrange, 3 if depthwise else 0)
    else:
        data, offset = _filter_and_offset(builder, step)
        filter_id = builder.constant(weight, ordered(data))
        bias_id = builder.constant(weight if bias is None else bias, offset)
    fields: dict[str, Any] = {
        **_paddings(step.head, _for_both(padding, kernel, 0)),
        "kernel_height": height,
        "kernel_width": width,
        **_both("subsampling", _for_both(stride, kernel, 1)),
        **_both("dilation", _for_both(dilation, kernel, 1)),
        "group_input_channels": channels_in,
        "group_output_channels": channels_out // groups,
        "groups": groups,
        **_both("adjustment", _for_both(extra, kernel, 0) if transposed else [0, 0]),
    }
    kind = "XNNConv2d"
    if transposed or depthwise:
        kind = "XNNConvTranspose2d" if transposed else "XNNDepthwiseConv2d"
    fields |= {"input1_id": value, "filter_id": filter_id, "bias_id": bias_id}
    if len(kernel) == 2:
        out = builder.write(step.result, NHWC)
        builder.emit(step.head, kind, step.limits, **fields, output_id=out)
        return
    batch, channels, length = shape_of(step.result)
    out = builder.intermediate([batch, 1, length, channels], step.result)
    builder.emit(step.head, kind, step.limits, **fields, output_id=out)
    _from_image(builder, step, out)


def _filter_and_offset(builder: GraphBuilder, step: Step) -> tuple[Tensor, Tensor | None]:
    """Out channels first, with the batch norm in them."""
    _, weight, bias, *_, transposed, _, groups = step.head.args
    data = _out_channels_first(builder.constants[weight].detach(), groups, transposed)
    offset = None if bias is None else builder.constants[bias].detach()
    return (data, offset) if step.batch_norm is None else _folded(builder, step, data, offset)


def _paddings(head: Node, both: list[int]) -> dict[str, int]:
    sides = padding_of(head)
    if sides is None:
        return paddings(both)
    return {f"padding_{side}": size for side, size in asdict(sides).items()}


def _for_both(values: list[int], kernel: list[int], height: int) -> list[int]:
    """For height and width; a convolution over one dimension has `height` of its own."""
    if len(kernel) == 1:
        return [height, values[0]]
    return list(values) if len(values) == 2 else [values[0]] * 2


def _as_image(builder: GraphBuilder, node: Node, source: Node) -> int:
    """[batch, channels, length] as [batch, 1, length, channels]."""
    batch, channels, length = source.meta["val"].shape
    sizes = shape_of(source)
    made = builder.intermediate([sizes[0], 1, sizes[2], sizes[1]], source)
    emit_reshape(
        builder, node, builder.read(source, NHWC), made, open_sizes([batch, 1, length, channels])
    )
    return made


def _from_image(builder: GraphBuilder, step: Step, value: int) -> None:
    batch, channels, length = step.result.meta["val"].shape
    out = builder.write(step.result, NHWC)
    emit_reshape(builder, step.head, value, out, open_sizes([batch, length, channels]))


def _both(name: str, values: list[int]) -> dict[str, int]:
    height, width = values
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
    scale, shift = scale_and_shift(builder, step.batch_norm)
    if bias is not None:
        shift = shift + bias * scale
    return (weight * scale.reshape([-1] + [1] * (weight.dim() - 1))).float(), shift.float()
