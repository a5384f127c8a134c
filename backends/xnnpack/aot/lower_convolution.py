# SPDX-License-Identifier: BSD-3-Clause
"""Convolutions with their batch norms: three kinds of node, by groups and direction.

XNNPACK takes filters and biases in float where the images are half precision, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor
from torch.fx import Node

from executorch.backends.xnnpack.aot.graph_builder import NHWC, GraphBuilder, shape_of
from executorch.backends.xnnpack.aot.lower import emit_reshape, open_sizes, paddings
from executorch.backends.xnnpack.aot.lower_norm import scale_and_shift
from executorch.backends.xnnpack.aot.lower_transposed import Images, by_phases, phases_of
from executorch.backends.xnnpack.aot.lower_weights import filter_and_bias
from executorch.backends.xnnpack.aot.padding import padding_of
from executorch.backends.xnnpack.aot.quantization import dynamic_source
from executorch.backends.xnnpack.aot.steps import Mode, Step


@dataclass(frozen=True)
class Plane:
    """A node's convolution over height and width. `channels`: in and out of one group; `extra`: rows and columns of a
    transposed one."""

    channels: tuple[int, int]
    kernel: list[int]
    stride: list[int]
    padding: dict[str, int]
    dilation: list[int]
    extra: list[int]
    groups: int = 1
    transposed: bool = False

    @property
    def is_depthwise(self) -> bool:
        return not self.transposed and self.channels[0] == 1 and self.groups > 1


def convolution(builder: GraphBuilder, step: Step) -> None:
    phases = phases_of(step)
    if phases is not None:
        count = step.result.meta["val"].shape[0]
        value, out = builder.read(step.head.args[0], NHWC), builder.write(step.result, NHWC)
        constants = filter_and_offset(builder, step)
        by_phases(builder, step, phases, *constants, Images(count, value, out))
        return
    source, weight, _, stride, padding, dilation, transposed, extra, groups = step.head.args
    channels_out, channels_in, *kernel = weight.meta["val"].shape
    if transposed:
        channels_out, channels_in = channels_in * groups, channels_out // groups
    plane = Plane(
        (channels_in, channels_out // groups),
        _for_both(kernel, kernel, 1),
        _for_both(stride, kernel, 1),
        _paddings(step.head, _for_both(padding, kernel, 0)),
        _for_both(dilation, kernel, 1),
        _for_both(extra, kernel, 0) if transposed else [0, 0],
        groups,
        transposed,
    )
    if step.mode is Mode.DYNAMIC:
        value = builder.read_rows_quantized(dynamic_source(source), 3, NHWC)
    elif len(kernel) == 1:
        value = _as_image(builder, step.head, source)
    else:
        value = builder.read(source, NHWC)
    constants = arranged_filter(builder, step, plane, _as_rows)
    if len(kernel) == 2:
        out = builder.write(step.result, NHWC)
        emit_plane(builder, step, plane, value, constants, out)
        return
    batch, channels, length = shape_of(step.result)
    out = builder.intermediate([batch, 1, length, channels], step.result)
    emit_plane(builder, step, plane, value, constants, out)
    _from_image(builder, step, out)


def arranged_filter(
    builder: GraphBuilder, step: Step, plane: Plane, as_planes: Callable[[Tensor], Tensor]
) -> tuple[int, int]:
    """Filter and bias. `as_planes` makes [out, in / groups, height, width] of a weight with its outputs first."""
    weight, bias = step.head.args[1:3]
    *_, transposed, _, groups = step.head.args
    perm = (1, 2, 3, 0) if plane.is_depthwise else (0, 2, 3, 1)

    def arrange(data: Tensor) -> Tensor:
        data = data.float() if data.dtype == torch.float16 else data
        return as_planes(_out_channels_first(data, groups, transposed)).permute(perm)

    if step.batch_norm is None:
        return filter_and_bias(builder, step, arrange, 3 if plane.is_depthwise else 0)
    data, offset = filter_and_offset(builder, step)
    filter_id = builder.constant(weight, as_planes(data).permute(perm))
    return filter_id, builder.constant(weight if bias is None else bias, offset)


def emit_plane(
    builder: GraphBuilder,
    step: Step,
    plane: Plane,
    value: int,
    constants: tuple[int, int],
    out: int,
) -> None:
    kind = "XNNConv2d"
    if plane.transposed or plane.is_depthwise:
        kind = "XNNConvTranspose2d" if plane.transposed else "XNNDepthwiseConv2d"
    height, width = plane.kernel
    fields: dict[str, Any] = {
        **plane.padding,
        "kernel_height": height,
        "kernel_width": width,
        **both("subsampling", plane.stride),
        **both("dilation", plane.dilation),
        "group_input_channels": plane.channels[0],
        "group_output_channels": plane.channels[1],
        "groups": plane.groups,
        **both("adjustment", plane.extra),
    }
    fields |= {"input1_id": value, "filter_id": constants[0], "bias_id": constants[1]}
    builder.emit(step.head, kind, step.limits, **fields, output_id=out)


def filter_and_offset(builder: GraphBuilder, step: Step) -> tuple[Tensor, Tensor | None]:
    """Out channels first, with the batch norm in them."""
    _, weight, bias, *_, transposed, _, groups = step.head.args
    data = _out_channels_first(builder.constants[weight].detach(), groups, transposed)
    offset = None if bias is None else builder.constants[bias].detach()
    return (data, offset) if step.batch_norm is None else _folded(builder, step, data, offset)


def _as_rows(data: Tensor) -> Tensor:
    return data if data.dim() == 4 else data.unsqueeze(2)


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


def both(name: str, values: list[int]) -> dict[str, int]:
    height, width = values
    return {f"{name}_height": height, f"{name}_width": width}


def _out_channels_first(weight: Tensor, groups: int, transposed: bool) -> Tensor:
    """[out, in / groups, ...]; a transposed convolution has [in, out / groups, ...]."""
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
